"""Every model, norm and task on any number of ranks and threads: the same figures, weights and predictions, bit for bit."""

import halo_runs
from halo_runs import HaloTest, Programs, generate, partition, succeed

EPOCHS = 5
COMMON = ("--epochs", EPOCHS, "--seed", 7, "--hidden", 16, "--lr", "0.02")
DROPOUT = ("--dropout", "0.4", "--input-dropout", "0.2")
ATTENTION = ("--heads", 4, "--attention-dropout", "0.3", "--activation", "elu", *DROPOUT)

MODELS = {
    "gcn_batch_norm": ("--model", "gcn", "--layers", 3, "--norm", "batch", "--residual", "identity", *DROPOUT),
    "sage_pool": ("--model", "sage", "--aggregator", "pool", "--norm", "layer", "--jumping", "max", *DROPOUT),
    "sage_max": ("--model", "sage", "--aggregator", "max", "--no-root-weight", "--l2-normalise", *DROPOUT),
    "gat": ("--model", "gat", "--output-heads", 2, *ATTENTION),
    "gatv2": ("--model", "gatv2", "--norm", "batch", "--residual", "linear", "--layers", 3, *ATTENTION),
    "gin": ("--model", "gin", "--learn-epsilon", "--norm", "batch", "--jumping", "cat", *DROPOUT),
    "gcnii": ("--model", "gcnii", "--layers", 5, *DROPOUT),
    "appnp": ("--model", "appnp", "--hops", 4, *DROPOUT),
    "sgc": ("--model", "sgc", "--hops", 3),
    "sign": ("--model", "sign", "--hops", 2, "--dropout", "0.4"),
    "mlp": ("--model", "mlp", "--norm", "l2", *DROPOUT),
    "sage_bf16": ("--model", "sage", "--layers", 3, "--storage", "bf16", *DROPOUT),
    "gat_bf16": ("--model", "gat", "--norm", "batch", "--storage", "bf16", *ATTENTION),
    "gcn_linear_ends": ("--model", "gcn", "--input-linear", "--output-linear", "--activation", "leaky_relu", *DROPOUT),
}
TRAINING = {
    "inductive": ("--model", "gcn", "--norm", "batch", "--inductive", *DROPOUT),
    "embedding": ("--model", "sage", "--embedding", 6, "--clip-norm", "0.05", "--optimizer", "adamw", "--weight-decay",
                  "0.01", *DROPOUT),
    "weights": ("--model", "gcn", "--class-weights", "balanced", "--label-smoothing", "0.1", "--metric",
                "f1_macro,accuracy", "--optimizer", "sgd", "--momentum", "0.9", "--nesterov", *DROPOUT),
    "standardised": ("--model", "gcn", "--standardise", "--schedule", "cosine", "--warmup-epochs", 2, *DROPOUT),
}


class SameBitsModels(HaloTest):
    def check(self, parts, name, options):
        self.check_same_bits(parts, name, (*COMMON, *options))

    def small_graph(self, name, *options):
        dataset = generate(self.folder / name, "--kind", "sbm", "--nodes", 900, "--classes", 4, "--features", 12, "--degree",
                           6, "--seed", 5, *options)
        return partition(dataset, self.folder / f"{name}_parts", 8, "--seed", 1)

    def test_models(self):
        parts = self.small_graph("directed", "--directed")
        for name, options in MODELS.items():
            self.check(parts, name, options)

    def test_training(self):
        parts = self.small_graph("symmetric")
        for name, options in TRAINING.items():
            self.check(parts, name, options)

    def test_tasks(self):
        for task in ("multi_label", "node_regression"):
            parts = self.small_graph(task, "--task", task)
            self.check(parts, task, ("--model", "sage", "--norm", "batch", *DROPOUT))
        self.check(parts, "mae", ("--model", "gcn", "--regression-loss", "mae", *DROPOUT))

    def test_links(self):
        dataset = generate(self.folder / "sbm", "--kind", "sbm", "--nodes", 900, "--classes", 4, "--features", 12, "--degree",
                           6, "--seed", 5)
        links = self.folder / "links"
        succeed([Programs.dataset, "split-edges", dataset, "--negatives", 3, "--seed", 1, "--out", links, "--quiet"])
        parts = partition(links, self.folder / "links_parts", 8, "--seed", 1)
        self.check(parts, "dot", ("--model", "gcn", "--hits-k", "1,10", *DROPOUT))
        self.check(parts, "mlp", ("--model", "sage", "--decoder", "mlp", "--negatives", 2, "--embedding", 4, *DROPOUT))


if __name__ == "__main__":
    halo_runs.main()
