"""Which cases are compared live (live_cases) and which are stored for the offline suite (stored_cases)."""

from pyg_cases import Case

EVERY_GRAPH = ("weighted", "directed", "symmetric")
GAT = {"heads": 2, "output_heads": 2}

# Name -> model options; three layers of eight columns where they say nothing else.
SINGLE_LAYERS = {
    "gcn": {"model": "gcn"},
    "sage_mean": {"model": "sage"},
    "sage_mean_no_root": {"model": "sage", "root_weight": False},
    "sage_mean_l2": {"model": "sage", "l2_normalise": True},
    "sage_sum": {"model": "sage", "aggregator": "sum"},
    "sage_max": {"model": "sage", "aggregator": "max"},
    "sage_max_no_root": {"model": "sage", "aggregator": "max", "root_weight": False},
    "sage_pool": {"model": "sage", "aggregator": "pool"},
    "gat_1_head": {"model": "gat", "output_heads": 1},
    "gat_3_heads": {"model": "gat", "output_heads": 3, "negative_slope": 0.1},
    "gatv2_1_head": {"model": "gatv2", "output_heads": 1},
    "gatv2_3_heads": {"model": "gatv2", "output_heads": 3},
    "gin": {"model": "gin"},
    "gin_eps": {"model": "gin", "learn_epsilon": True},
    "gin_eps_batch": {"model": "gin", "learn_epsilon": True, "norm": "batch"},
    "gcnii": {"model": "gcnii", "alpha": 0.3},
    "appnp": {"model": "appnp", "hops": 1},
    "sgc": {"model": "sgc", "hops": 1},
    "sign": {"model": "sign", "hops": 1},
    "mlp": {"model": "mlp"},
}

MODELS = {
    "gcn": {"model": "gcn"},
    "sage_mean": {"model": "sage"},
    "sage_sum": {"model": "sage", "aggregator": "sum"},
    "sage_max": {"model": "sage", "aggregator": "max"},
    "sage_pool": {"model": "sage", "aggregator": "pool"},
    "gat_4_heads": {"model": "gat", "heads": 4, "output_heads": 1, "activation": "elu"},
    "gat_8_8_heads": {"model": "gat", "heads": 8, "output_heads": 8, "activation": "elu"},
    "gatv2_4_heads": {"model": "gatv2", "heads": 4, "output_heads": 2},
    "gin": {"model": "gin"},
    "gin_eps_batch": {"model": "gin", "learn_epsilon": True, "norm": "batch"},
    "gcnii": {"model": "gcnii", "layers": 8},
    "appnp": {"model": "appnp", "layers": 2},
    "sgc": {"model": "sgc"},
    "sign": {"model": "sign", "hops": 3},
    "mlp": {"model": "mlp"},
}

# Whole models under PyTorch Geometric's ready-made classes.
BASIC = {
    "gcn": {"model": "gcn"},
    "gcn_batch_cat": {"model": "gcn", "norm": "batch", "jumping": "cat"},
    "gcn_layer_max": {"model": "gcn", "norm": "layer", "jumping": "max"},
    "sage": {"model": "sage"},
    "sage_max_batch": {"model": "sage", "aggregator": "max", "norm": "batch"},
    "sage_pool_elu": {"model": "sage", "aggregator": "pool", "activation": "elu"},
    "gat": {"model": "gat", **GAT},
    "gat_layer_cat": {"model": "gat", "heads": 4, "jumping": "cat", "norm": "layer"},
    "gatv2": {"model": "gatv2", **GAT},
    "gin": {"model": "gin"},
    "gin_eps_batch_cat": {"model": "gin", "learn_epsilon": True, "norm": "batch", "jumping": "cat"},
}

STACKS = {
    "gcn": {"model": "gcn"},
    "sage": {"model": "sage"},
    "gat": {"model": "gat", "heads": 4, "output_heads": 1},
    "gin": {"model": "gin", "learn_epsilon": True},
}
VARIANTS = {
    "batch": {"norm": "batch"},
    "layer": {"norm": "layer"},
    "l2": {"norm": "l2"},
    "identity": {"residual": "identity", "layers": 4},
    "linear_skip": {"residual": "linear", "norm": "layer"},
    "cat": {"jumping": "cat"},
    "max": {"jumping": "max"},
    "input_output": {"input_linear": True, "output_linear": True, "residual": "identity", "norm": "layer"},
    "elu": {"activation": "elu"},
    "leaky_relu": {"activation": "leaky_relu"},
    "embedding": {"embedding": 3},
}

LOSSES = {
    "class_weights": {"class_weights": [1.0, 0.25, 3.0]},
    "smoothing": {"label_smoothing": 0.1},
    "weights_smoothing": {"class_weights": [1.0, 0.25, 3.0], "label_smoothing": 0.2},
    "multi_label": {"task": "multi_label"},
    "mse": {"task": "mse"},
    "mae": {"task": "mae"},
}

# Attention scores of +-200 and more.
EXTREME = {
    "gat": {"model": "gat", "heads": 4, "output_heads": 1},
    "gatv2": {"model": "gatv2", "heads": 4, "output_heads": 1},
}


def optimiser_cases():
    yield Case("optimizer_adam_decay", "weighted", {"model": "gcn"}, weight_decay=5e-4)
    yield Case("optimizer_adamw", "symmetric", {"model": "sage"}, optimizer="adamw", weight_decay=0.01)
    yield Case("optimizer_sgd", "directed", {"model": "gat", "heads": 4}, optimizer="sgd", learning_rate=0.1)


def extreme_cases():
    for name, model in EXTREME.items():
        for graph in ("directed", "symmetric"):
            yield Case(f"scores_{name}_{graph}", graph, model, attention_scale=60.0)


def live_cases():
    cases = []
    for kind, models in (("layer", SINGLE_LAYERS), ("model", MODELS), ("basic", BASIC)):
        for name, model in models.items():
            model = {"layers": 1, **model} if kind == "layer" else model
            # Of the ready-made classes only GCN reads edge weights.
            on = EVERY_GRAPH[1:] if kind == "basic" and model["model"] != "gcn" else EVERY_GRAPH
            cases += [Case(f"{kind}_{name}_{graph}", graph, model, basic=kind == "basic") for graph in on]
    for name, model in STACKS.items():
        graph = "weighted" if name == "gcn" else "directed"
        cases += [Case(f"{name}_{variant}", graph, {**model, **options}) for variant, options in VARIANTS.items()]
        cases += [Case(f"{name}_{loss}", "symmetric", model, **options) for loss, options in LOSSES.items()]
    return cases + list(optimiser_cases()) + list(extreme_cases())


STORED = (
    "model_gat_4_heads_directed", "model_gatv2_4_heads_symmetric", "basic_gat_layer_cat_symmetric", "scores_gat_directed",
    "scores_gatv2_symmetric", "model_gin_eps_batch_weighted", "model_gin_directed", "model_gcnii_weighted",
    "model_appnp_weighted", "model_sgc_weighted", "model_sign_directed", "model_sage_max_directed",
    "model_sage_pool_symmetric", "model_sage_sum_weighted", "gcn_cat", "gcn_max", "gcn_layer", "gcn_batch", "gcn_l2",
    "sage_linear_skip", "sage_input_output", "sage_identity", "gat_batch", "gcn_embedding", "gcn_multi_label",
    "sage_mse", "sage_mae", "gcn_weights_smoothing", "optimizer_adamw",
)


def stored_cases():
    by_name = {case.name: case for case in live_cases()}
    return [by_name[name] for name in STORED]
