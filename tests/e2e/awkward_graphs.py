"""Graphs at the edge of what is allowed train on several ranks as they train on one."""

import halo_runs
from halo_runs import HaloTest, bits_of_run, both_ways, metrics, partition, succeed, train_command, write_dataset


class AwkwardGraphs(HaloTest):
    def check(self, dataset, parts, *partition_options, ranks=(2, 3, 4)):
        parts_folder = partition(dataset, self.folder / "parts", parts, *partition_options)
        for model in ("gcn", "sage"):
            expected = None
            for count in (1, *[r for r in ranks if r <= parts]):
                with self.subTest(model=model, ranks=count):
                    out = self.folder / f"{model}_{count}"
                    succeed(train_command(count, parts_folder, out, "--model", model, "--hidden", 8, "--epochs", 5,
                                          "--threads", 1))
                    self.assertEqual(len(metrics(out)), 5)
                    bits = bits_of_run(out)
                    expected = expected or bits
                    self.assertEqual(bits, expected)

    def test_no_edges_at_all(self):
        self.check(write_dataset(self.folder / "d", 20, [], range(0, 20, 2), range(1, 20, 2)), 4)

    def test_parts_without_edges(self):
        path = both_ways((i, i + 1) for i in range(9))  # nodes 10 to 29 are isolated
        self.check(write_dataset(self.folder / "d", 30, path, range(0, 30, 3), range(1, 30, 3)), 4, "--method", "block")

    def test_isolated_training_nodes(self):
        path = both_ways((i, i + 1) for i in range(19))
        self.check(write_dataset(self.folder / "d", 24, path, [20, 21, 22, 23], range(0, 10), range(10, 20)), 3)

    def test_a_rank_without_training_nodes(self):
        path = both_ways((i, i + 1) for i in range(39))
        self.check(write_dataset(self.folder / "d", 40, path, [0, 1, 2], [3, 4, 5], range(6, 40)), 4, "--method", "block")

    def test_part_0_only_feeds_part_1(self):
        edges = [(source, 10 + target) for source in range(10) for target in range(10) if (source + target) % 3 == 0]
        self.check(write_dataset(self.folder / "d", 20, edges, range(0, 20, 2), range(1, 20, 2)), 2, "--method", "block")

    def test_star(self):
        edges = both_ways((0, leaf) for leaf in range(1, 50))
        self.check(write_dataset(self.folder / "d", 50, edges, range(0, 50, 3), range(1, 50, 3)), 4)

    def test_as_many_parts_as_nodes(self):
        ring = both_ways((i, (i + 1) % 6) for i in range(6))
        self.check(write_dataset(self.folder / "d", 6, ring, [0, 1, 2], [3], [4, 5]), 6)

    def test_one_node(self):
        self.check(write_dataset(self.folder / "d", 1, [], [0]), 1)

    def test_one_node_that_is_its_own_neighbour(self):
        self.check(write_dataset(self.folder / "d", 1, [(0, 0)], [0]), 1)

    def test_loops_and_repeated_edges(self):
        edges = both_ways((i, i + 1) for i in range(15)) + [(i, i) for i in range(0, 16, 3)] + [(2, 3)] * 3
        self.check(write_dataset(self.folder / "d", 16, edges, range(0, 16, 2), range(1, 16, 2)), 4)


if __name__ == "__main__":
    halo_runs.main()
