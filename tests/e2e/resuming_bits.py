"""A run that is stopped and resumed gives the bits of one that never stopped, whatever the ranks and threads."""

import json

import halo_runs
import resuming
from halo_runs import Programs, bits_of_run, generate, metrics, mpi_command, partition, run, succeed

RANKS_AND_THREADS = ((1, 2, 1), (3, 1, 2), (4, 2, 1), (2, 4, 2))  # before, after, threads after
MODELS = {"gcn": ("--model", "gcn", "--norm", "batch"),
          "sage": ("--model", "sage", "--optimizer", "sgd", "--momentum", "0.9", "--warmup-epochs", 4),
          "embedding": ("--model", "sage", "--embedding", 5),
          "links": ("--model", "gcn", "--decoder", "mlp", "--hits-k", 5, "--select", "val_metric")}


class ResumingBits(resuming.ResumingTest):
    def check_model(self, model, cuts=RANKS_AND_THREADS):
        options = MODELS[model]
        whole = self.train("whole", "--epochs", resuming.WHOLE, *options)
        rates = [line["learning_rate"] for line in metrics(whole)]
        self.assertLess(rates[18], rates[17])  # so that a schedule that forgot would be found out
        for before, after, threads in cuts:
            with self.subTest(before=before, after=after, threads=threads):
                out = self.interrupted(f"{before}_{after}", *options, ranks=before)
                done = run(mpi_command(after, Programs.train, "--resume", out, "--epochs", resuming.WHOLE, "--threads", threads,
                                       "--transport", "p2p", "--quiet=false"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("resuming from", done.stderr)
                self.assertIn("epoch-000018", done.stderr)
                self.assertEqual(bits_of_run(out), bits_of_run(whole))
                self.assertEqual(json.loads((out / "summary.json").read_text())["resumed_from_epoch"], 18)

    def test_gcn(self):
        self.check_model("gcn")

    def test_sage(self):
        self.check_model("sage")

    def test_embedding(self):
        self.check_model("embedding")

    def test_links(self):
        small = generate(self.folder / "small", "--kind", "sbm", "--nodes", 400, "--features", 16, "--degree", 6)
        links = self.folder / "links"
        succeed([Programs.dataset, "split-edges", small, "--seed", 1, "--out", links, "--quiet"])
        self.parts = partition(links, self.folder / "link_parts", 4)
        self.check_model("links", cuts=((1, 2, 1), (2, 1, 2)))  # many small messages: no more ranks than cores


if __name__ == "__main__":
    halo_runs.main()
