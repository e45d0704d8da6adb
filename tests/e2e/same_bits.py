"""One partitioned dataset, any number of ranks and threads, any transport: the same losses, weights and predictions, bit for bit."""

import halo_runs
from halo_runs import HaloTest, Programs, generate, partition

EPOCHS = 12
TRANSPORTS = ("nonblocking", "blocking", "p2p", "auto")
COMMON = ("--epochs", EPOCHS, "--dropout", "0.5", "--seed", 3)
MODELS = {
    "gcn": ("--model", "gcn", "--layers", 2, "--hidden", 16, "--input-dropout", "0.3", "--row-normalise"),
    "sage": ("--model", "sage", "--layers", 3, "--hidden", 24),
}


class SameBits(HaloTest):
    def check_graph(self, dataset, *partition_options):
        parts = partition(dataset, self.folder / "parts", 8, "--seed", 1, *partition_options)
        for model, options in MODELS.items():
            self.check_same_bits(parts, model, (*COMMON, *options), TRANSPORTS)

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
