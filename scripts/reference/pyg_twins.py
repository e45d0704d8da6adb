"""The models of the product, built from PyTorch Geometric's own modules, with the product's parameter names.

Where a class of PyTorch Geometric is the whole model (torch_geometric.nn.GCN, GraphSAGE, GAT, GIN), basic_model() gives it;
model_for() puts the others together from its layers. Every forward() takes (x, edge_index, edge_weight or None).
"""

import torch
import torch_geometric.nn as gnn
from torch.nn import Linear, ModuleList, Parameter
from torch_geometric.nn.conv.gcn_conv import gcn_norm

# As halo::nn::ModelOptions.
DEFAULTS = {
    "layers": 3, "hidden": 8, "dropout": 0.0, "activation": "relu", "norm": "none", "residual": "none", "jumping": "none",
    "input_linear": False, "output_linear": False, "aggregator": "mean", "root_weight": True, "l2_normalise": False,
    "heads": 8, "output_heads": 1, "negative_slope": 0.2, "learn_epsilon": False, "alpha": 0.1, "theta": 0.5, "hops": 0,
    "embedding": 0,
}


def full(options):
    """Options with the product's defaults filled in."""
    return {**DEFAULTS, **options}


def activation(options):
    return {"relu": torch.relu, "elu": torch.nn.functional.elu,
            "leaky_relu": torch.nn.functional.leaky_relu}[options["activation"]]


class L2Norm(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.normalize(x, p=2.0, dim=-1)


def norm(kind, cols):
    if kind == "batch":
        return gnn.BatchNorm(cols)
    if kind == "layer":
        return torch.nn.LayerNorm(cols)
    return L2Norm() if kind == "l2" else torch.nn.Identity()


class WeightedSage(gnn.SAGEConv):
    """SAGEConv has no edge weights: its neighbours' sum with them by SimpleConv; the mean divides by their sum."""

    def __init__(self, cols_in, cols_out, aggr, **kwargs):
        super().__init__(cols_in, cols_out, aggr=aggr, **kwargs)
        self.kind, self.weighted_sum = aggr, gnn.SimpleConv(aggr="sum")

    def forward(self, x, edge_index, edge_weight=None):
        if edge_weight is None or self.kind == "max":
            return super().forward(x, edge_index)
        weight = edge_weight
        if self.kind == "mean":
            weight = weight / torch.zeros_like(x[:, 0]).index_add(0, edge_index[1], weight)[edge_index[1]]
        y = self.lin_l(self.weighted_sum(x, edge_index, weight))
        if self.root_weight:
            y = y + self.lin_r(x)
        return torch.nn.functional.normalize(y, p=2.0, dim=-1) if self.normalize else y


class WeightedGin(gnn.GINConv):
    """GINConv has no edge weights: the neighbours' sum with them by SimpleConv."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.weighted_sum = gnn.SimpleConv(aggr="sum")

    def forward(self, x, edge_index, edge_weight=None):
        if edge_weight is None:
            return super().forward(x, edge_index)
        return self.nn(self.weighted_sum(x, edge_index, edge_weight) + (1 + self.eps) * x)


def sage_layer(options, cols_in, cols_out, last):
    pool = options["aggregator"] == "pool"
    return WeightedSage(cols_in, cols_out, "max" if pool else options["aggregator"], project=pool,
                        root_weight=options["root_weight"], normalize=options["l2_normalise"])


def attention_layer(options, cols_in, cols_out, last):
    heads = options["output_heads"] if last else options["heads"]
    make = gnn.GATConv if options["model"] == "gat" else gnn.GATv2Conv
    return make(cols_in, cols_out if last else cols_out // heads, heads=heads, concat=not last,
                negative_slope=options["negative_slope"])


def gin_layer(options, cols_in, cols_out, last):
    kind = options["norm"]
    made = "batch_norm" if kind == "batch" else None
    perceptron = gnn.MLP([cols_in, cols_out, cols_out], act=options["activation"], norm=made)
    if kind in ("layer", "l2"):  # MLP's own layer norm is over the whole graph
        perceptron.norms = ModuleList([norm(kind, cols_out)])
    return WeightedGin(perceptron, train_eps=options["learn_epsilon"])


def gcn_layer(options, cols_in, cols_out, last):
    return gnn.GCNConv(cols_in, cols_out)


LAYERS = {"gcn": gcn_layer, "sage": sage_layer, "gat": attention_layer, "gatv2": attention_layer, "gin": gin_layer}


class Stack(torch.nn.Module):
    """Layers one behind the other: norm and activation between, skips, jumping knowledge."""

    def __init__(self, options, cols_in, outputs):
        super().__init__()
        self.options, self.act = options, activation(options)
        hidden = options["hidden"]
        self.ends_linear = options["output_linear"] or options["jumping"] != "none"
        if options["input_linear"]:
            self.lin_in = Linear(cols_in, hidden)
        widths = [hidden if options["input_linear"] else cols_in] + [hidden] * (options["layers"] - 1)
        widths.append(hidden if self.ends_linear else outputs)
        pairs = list(zip(widths, widths[1:]))
        last = None if self.ends_linear else len(pairs) - 1
        make = LAYERS[options["model"]]
        self.convs = ModuleList(make(options, *pair, layer == last) for layer, pair in enumerate(pairs))
        inner = len(pairs) if self.ends_linear else len(pairs) - 1
        self.norms = ModuleList(norm(options["norm"], hidden) for _ in range(inner))
        if options["residual"] == "linear":
            self.skips = ModuleList(Linear(*pair) for pair in pairs)
        if options["jumping"] != "none":
            self.jump = gnn.JumpingKnowledge(options["jumping"], hidden, len(pairs))
        if self.ends_linear:
            self.lin = Linear(hidden * (len(pairs) if options["jumping"] == "cat" else 1), outputs)

    def conv(self, layer, x, edge_index, edge_weight):
        weights = () if self.options["model"] in ("gat", "gatv2") else (edge_weight,)
        y = self.convs[layer](x, edge_index, *weights)
        return y + self.skips[layer](x) if self.options["residual"] == "linear" else y

    def forward(self, x, edge_index, edge_weight=None):
        if self.options["input_linear"]:
            x = self.act(self.lin_in(x))
        outputs = []
        for layer, normalise in enumerate(self.norms):
            y = self.act(normalise(self.conv(layer, x, edge_index, edge_weight)))
            x = x + y if self.options["residual"] == "identity" and x.shape == y.shape else y
            outputs.append(x)
        if not self.ends_linear:
            return self.conv(len(self.convs) - 1, x, edge_index, edge_weight)
        return self.lin(self.jump(outputs) if self.options["jumping"] != "none" else x)


class Gcnii(torch.nn.Module):
    def __init__(self, options, cols_in, outputs):
        super().__init__()
        self.act, hidden = activation(options), options["hidden"]
        self.lins = ModuleList([Linear(cols_in, hidden), Linear(hidden, outputs)])
        self.convs = ModuleList(gnn.GCN2Conv(hidden, options["alpha"], options["theta"], layer + 1)
                                for layer in range(options["layers"]))

    def forward(self, x, edge_index, edge_weight=None):
        x = initial = self.act(self.lins[0](x))
        for conv in self.convs:
            x = self.act(conv(x, initial, edge_index, edge_weight))
        return self.lins[1](x)


class Perceptron(torch.nn.Module):
    def __init__(self, options, cols_in, outputs):
        super().__init__()
        self.act = activation(options)
        widths = [cols_in] + [options["hidden"]] * (options["layers"] - 1) + [outputs]
        self.lins = ModuleList(Linear(*pair) for pair in zip(widths, widths[1:]))
        self.norms = ModuleList(norm(options["norm"], cols) for cols in widths[1:-1])

    def forward(self, x, edge_index, edge_weight=None):
        for lin, normalise in zip(self.lins, self.norms):
            x = self.act(normalise(lin(x)))
        return self.lins[-1](x)


class Appnp(Perceptron):
    def __init__(self, options, cols_in, outputs):
        super().__init__(options, cols_in, outputs)
        self.propagation = gnn.APPNP(options["hops"] or 10, options["alpha"])

    def forward(self, x, edge_index, edge_weight=None):
        return self.propagation(super().forward(x, edge_index), edge_index, edge_weight)


class Sign(torch.nn.Module):
    """The model of PyTorch Geometric's example; the hops by the matrix of GCN, loops included."""

    def __init__(self, options, cols_in, outputs):
        super().__init__()
        self.act, self.hops = activation(options), options["hops"] or 2
        self.lins = ModuleList(Linear(cols_in, options["hidden"]) for _ in range(self.hops + 1))
        self.lin = Linear((self.hops + 1) * options["hidden"], outputs)
        self.propagate = gnn.SimpleConv(aggr="sum")

    def forward(self, x, edge_index, edge_weight=None):
        index, weight = gcn_norm(edge_index, edge_weight, x.size(0), dtype=x.dtype)
        parts = [self.act(self.lins[0](x))]
        for lin in self.lins[1:]:
            x = self.propagate(x, index, weight)
            parts.append(self.act(lin(x)))
        return self.lin(torch.cat(parts, dim=-1))


class WithEmbedding(torch.nn.Module):
    """Learnt columns beside the features."""

    def __init__(self, inner, nodes, cols):
        super().__init__()
        self.inner, self.rows = inner, Parameter(torch.empty(nodes, cols))

    def forward(self, x, edge_index, edge_weight=None):
        return self.inner(torch.cat([x, self.rows], dim=-1), edge_index, edge_weight)


WHOLE = {"gcnii": Gcnii, "appnp": Appnp, "sign": Sign, "mlp": Perceptron}


class Sgc(gnn.SGConv):
    def __init__(self, options, cols_in, outputs):
        super().__init__(cols_in, outputs, K=options["hops"] or 2)


def model_for(options, cols_in, outputs, nodes):
    """The twin of build_model(options, cols_in, outputs)."""
    cols_in += options["embedding"]
    make = {**WHOLE, "sgc": Sgc}.get(options["model"], Stack)
    model = make(options, cols_in, outputs)
    return WithEmbedding(model, nodes, options["embedding"]) if options["embedding"] else model


def basic_model(options, cols_in, outputs):
    """The same as one of PyTorch Geometric's ready-made classes; what a user opens a weights file with."""
    norms = {"none": {}, "batch": {"norm": "batch_norm"}, "layer": {"norm": "layer_norm", "norm_kwargs": {"mode": "node"}}}
    arguments = dict(in_channels=cols_in, hidden_channels=options["hidden"], num_layers=options["layers"],
                     out_channels=outputs, act=options["activation"], **norms[options["norm"]])
    if options["jumping"] != "none":
        arguments["jk"] = options["jumping"]
    name = options["model"]
    if name == "gcn":
        return gnn.GCN(**arguments)
    if name == "sage":
        pool = options["aggregator"] == "pool"
        return gnn.GraphSAGE(**arguments, aggr="max" if pool else options["aggregator"], project=pool,
                             root_weight=options["root_weight"], normalize=options["l2_normalise"])
    if name == "gin":
        return gnn.GIN(**arguments, train_eps=options["learn_epsilon"])
    # One number of heads serves all layers there.
    assert options["heads"] == options["output_heads"] or options["jumping"] != "none", "heads differ between layers"
    return gnn.GAT(**arguments, heads=options["heads"], negative_slope=options["negative_slope"],
                   v2=name == "gatv2")
