"""Another number of parts, method or order of nodes changes the rounding only: losses agree over twenty epochs."""

import halo_runs
from halo_runs import HaloTest, generate, metrics, partition, succeed, train_command

TOLERANCE = 1e-4  # relative


class OtherPartitions(HaloTest):
    def losses(self, dataset, name, ranks, *partition_options):
        parts = partition(dataset, self.folder / f"parts_{name}", *partition_options)
        out = self.folder / f"run_{name}"
        succeed(train_command(ranks, parts, out, "--epochs", 20, "--model", self.model, "--layers", 2, "--hidden", 16,
                              "--dropout", "0.5", "--seed", 7, "--threads", 1))
        return [(line["train_loss"], line["val_loss"]) for line in metrics(out)]

    def check(self, *generate_options):
        dataset = generate(self.folder / "data", *generate_options)
        for self.model in ("gcn", "sage"):
            with self.subTest(model=self.model):
                expected = self.losses(dataset, self.model + "1", 1, 1)
                for name, ranks, options in (("4", 2, (4,)), ("7", 3, (7, "--method", "random")),
                                             ("5", 2, (5, "--method", "block", "--tile-rows", 32))):
                    found = self.losses(dataset, self.model + name, ranks, *options)
                    for (train, val), (expected_train, expected_val) in zip(found, expected, strict=True):
                        self.assertLess(abs(train - expected_train), TOLERANCE * expected_train)
                        self.assertLess(abs(val - expected_val), TOLERANCE * expected_val)

    def test_symmetric(self):
        self.check("--kind", "sbm", "--nodes", 2000, "--classes", 4, "--features", 10, "--degree", 8, "--seed", 4)

    def test_directed(self):
        self.check("--kind", "sbm", "--nodes", 1500, "--classes", 3, "--features", 8, "--degree", 5, "--directed", "--seed", 6)


if __name__ == "__main__":
    halo_runs.main()
