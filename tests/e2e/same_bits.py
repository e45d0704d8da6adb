"""One partitioned dataset, any number of ranks and threads, any transport: the same losses, weights and predictions, bit for bit."""

import itertools

import halo_runs
from halo_runs import HaloTest, Programs, bits_of_run, generate, metrics, partition, succeed, train_command

EPOCHS = 12
RANKS = (1, 2, 3, 4, 8)
THREADS = (1, 2)
TRANSPORTS = ("nonblocking", "blocking", "p2p")
COMMON = ("--epochs", EPOCHS, "--dropout", "0.5", "--seed", 3)
MODELS = {
    "gcn": ("--model", "gcn", "--layers", 2, "--hidden", 16, "--input-dropout", "0.3", "--row-normalise"),
    "sage": ("--model", "sage", "--layers", 3, "--hidden", 24),
}


class SameBits(HaloTest):
    def check_graph(self, dataset, *partition_options):
        parts = partition(dataset, self.folder / "parts", 8, "--seed", 1, *partition_options)
        for model, options in MODELS.items():
            expected = None
            for ranks, threads, transport in itertools.product(RANKS, THREADS, TRANSPORTS):
                with self.subTest(model=model, ranks=ranks, threads=threads, transport=transport):
                    out = self.folder / f"{model}_{ranks}_{threads}_{transport}"
                    succeed(train_command(ranks, parts, out, *COMMON, *options, "--threads", threads, "--transport",
                                          transport))
                    bits = bits_of_run(out)
                    if expected is None:
                        expected = bits
                        curve = [line["train_loss"] for line in metrics(out)]
                        self.assertLess(curve[-1], curve[0])  # something was learnt, so equality says something
                    for name, value in bits.items():
                        self.assertEqual(value, expected[name], f"{name} differs from that of one rank and one thread")

    def test_sbm(self):
        self.check_graph(generate(self.folder / "sbm", "--kind", "sbm", "--nodes", 20000, "--classes", 5, "--features", 20,
                                  "--degree", 10, "--seed", 2))

    def test_directed(self):
        self.check_graph(generate(self.folder / "directed", "--kind", "sbm", "--nodes", 3000, "--classes", 4, "--features",
                                  12, "--degree", 6, "--directed", "--seed", 5))

    def test_cora(self):
        if Programs.data is None:
            self.skipTest("needs real datasets: -Dtest_data=FOLDER")
        self.check_graph(Programs.data / "cora")


if __name__ == "__main__":
    halo_runs.main()
