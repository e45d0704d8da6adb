"""Link prediction from a dataset to figures, and the refusal of what does not belong to it."""

import json

import halo_runs
from halo_runs import HaloTest, Programs, generate, metrics, partition, run, succeed, train_command


def summary(folder):
    return json.loads((folder / "summary.json").read_text())


class LinkPrediction(HaloTest):
    def split(self, dataset, *options, parts=4):
        links = self.folder / "links"
        succeed([Programs.dataset, "split-edges", dataset, "--seed", 1, "--out", links, "--quiet", *options])
        return partition(links, self.folder / "parts", parts)

    def sbm(self, *options):
        return generate(self.folder / "sbm", "--kind", "sbm", "--nodes", 1200, "--classes", 12, "--degree", 16, "--homophily",
                        "0.95", "--seed", 4, *options)

    def test_communities_are_found_from_the_edges_alone(self):
        parts = self.split(self.sbm("--features", 0), "--negatives", 20)
        out = self.folder / "run"
        succeed(train_command(2, parts, out, "--model", "gcn", "--embedding", 16, "--hidden", 16, "--dropout", "0.0", "--lr",
                              "0.02", "--epochs", 60, "--hits-k", "10,50", "--select", "val_metric", "--best-weights"))
        figures = summary(out)
        self.assertEqual(figures["metric"], "roc_auc")
        self.assertGreater(figures["test_roc_auc"], 0.85)
        # By chance the mean of 1 / rank among 20 negatives is 0.17.
        self.assertGreater(figures["test_mrr"], 0.4)
        self.assertLessEqual(figures["test_hits@10"], figures["test_hits@50"])
        for name in ("val_link_scores.npy", "test_link_scores.npy"):  # an edge and its negatives in each row
            self.assertIn(b", 21)", (out / name).read_bytes()[:128])
        self.assertLess(metrics(out)[-1]["train_loss"], metrics(out)[0]["train_loss"])

    def test_directed_edges_and_the_mlp_decoder(self):
        parts = self.split(self.sbm("--features", 16, "--signal", 3, "--directed"))
        out = self.folder / "run"
        succeed(train_command(3, parts, out, "--model", "sage", "--decoder", "mlp", "--hidden", 16, "--epochs", 60, "--lr",
                              "0.01", "--metric", "mrr,hits@5"))
        figures = summary(out)
        self.assertEqual(figures["metric"], "mrr")
        self.assertGreater(figures["test_mrr"], 0.85)  # by chance 0.75: one negative for each edge
        self.assertNotIn("test_roc_auc", figures)

    def refuses(self, parts, *options):
        done = run(train_command(2, parts, self.folder / "refused", "--epochs", 2, *options))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse((self.folder / "refused").exists())
        return done.stderr

    def test_options_of_other_tasks_are_refused(self):
        dataset = self.sbm("--features", 4)
        parts = self.split(dataset)
        self.assertIn("hits@K", self.refuses(parts, "--metric", "accuracy"))
        self.assertIn("at least 1", self.refuses(parts, "--negatives", 0))
        self.assertIn("at least 1", self.refuses(parts, "--hits-k", "10,0"))
        self.assertIn("--inductive", self.refuses(parts, "--inductive"))
        self.refuses(partition(dataset, self.folder / "nodes", 2), "--metric", "mrr")


if __name__ == "__main__":
    halo_runs.main()
