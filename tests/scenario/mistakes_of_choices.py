"""Choices that are not there, and that do not go together: mostly of routing."""

# What is put in place of a line of the scenario, and the only message.
CHOICES: list[tuple[str, str, str]] = [
    # Readers.
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nreads = { block = "1 kB" }',
        "traffic[0].reads.rate: is missing; an application that reads at once needs no table, or a pause",
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nreads = { pause = "1 s", block = "1 kB" }',
        "traffic[0].reads.block: without a rate it reads whatever comes; leave it out",
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nreads = { rate = "1 Mbps", block = "0 B" }',
        'traffic[0].reads.block: "0 B" is zero; a block has at least one byte',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nreads = { rate = "1 Mbps", resume = "1 s" }',
        "traffic[0].reads.resume: without pause there is nothing to resume",
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nreads = { pause = "2 s", resume = "1 s" }',
        'traffic[0].reads.resume: "1 s" is not after pause, "2 s"',
    ),
    (
        "[run]",
        '[routing]\nscheme = "shortst"\n[run]',
        'routing.scheme: "shortst" is not known; nearest: "shortest"; there are '
        '"shortest", "ecmp", "k-shortest", "near-shortest", '
        '"disjoint", "max-flow", "tcpbp", "tcpbp-exact", "semper", '
        '"concurrent-flow", "given", "igp-weights", "robust", "hybrid-hop", "hybrid-delay", '
        '"robust-optimal", "robust-single"',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nsize = { distribution = "zipf", mean = "1 MB" }',
        'traffic[0].size: distribution "zipf" is not known; there are "constant", "uniform", "exponential", '
        '"gaussian", "log-normal", "pareto", "empirical", "cumulative"',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nsize = { mean = "1 MB" }',
        'traffic[0].size: a table here needs the key "distribution": one of "constant", '
        '"uniform", "exponential", '
        '"gaussian", "log-normal", "pareto", "empirical", "cumulative"',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nstart = { distribution = "poisson", rate = "5/s" }',
        'traffic[0].start: distribution "poisson" is not known; there are "constant", "uniform", '
        '"exponential", "gaussian", "log-normal", "pareto", "empirical", "cumulative"',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\napplication = { low = "1 Mbps" }',
        'traffic[0].application: a table here needs the key "kind": one of "constant-rate", "poisson", '
        '"messages", "ping", "udp"',
    ),
    (
        "[run]",
        '[routing]\nload_balancing = "flowlet"\n[run]',
        'routing.load_balancing: "flowlet" needs gap; write { algorithm = "flowlet", gap = ... }',
    ),
    (
        "[run]",
        '[routing]\nload_balancing = { algorithm = "flowlet" }\n[run]',
        "routing.load_balancing.gap: is missing (length of the pause)",
    ),
    (
        "[run]",
        '[routing]\nscheme = "hybrid-hop"\nk = 3\n[run]',
        "routing.k: is a parameter of k-shortest, near-shortest, disjoint, tcpbp, tcpbp-exact, semper, "
        "concurrent-flow, robust, hybrid-hop, hybrid-delay, robust-optimal and robust-single (scheme), "
        "and stands with it: "
        'write scheme = { algorithm = "hybrid-hop", k = ... }',
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "shortest", k = 2 }\n[run]',
        "routing.scheme.k: is a parameter of k-shortest, near-shortest, disjoint, tcpbp, tcpbp-exact, "
        "semper, concurrent-flow, robust, hybrid-hop, hybrid-delay, robust-optimal and robust-single "
        "(scheme); the scheme here is "
        '"shortest", which has no parameters',
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "k-shortst", k = 2 }\n[run]',
        'routing.scheme: algorithm "k-shortst" is not known; nearest: "k-shortest"; there are '
        '"shortest", "ecmp", "k-shortest", "near-shortest", "disjoint", "max-flow", "tcpbp", "tcpbp-exact", '
        '"semper", "concurrent-flow", "given", "igp-weights", "robust", "hybrid-hop", "hybrid-delay", '
        '"robust-optimal", "robust-single"',
    ),
    *(
        (
            "[run]",
            f'[routing]\nscheme = "{scheme}"\nmetric = "{metric}"\n[run]',
            f'routing.metric: is "{metric}", which is no sum over links, and scheme "{scheme}" needs one: '
            'choose among "hops", "hops-then-delay", "delay", "inverse-capacity", "loss", "weight", "smm", '
            'or write scheme = "shortest" or "k-shortest"',
        )
        for scheme, metric in [
            ("ecmp", "tcpbp"),
            ("disjoint", "capacity"),
            ("max-flow", "argaq"),
            ("ecmp", "b-over-dl"),
        ]
    ),
    (
        "[run]",
        '[routing]\nscheme = "tcpbp"\nmetric = "delay"\n[run]',
        'routing.metric: is "delay", but scheme "tcpbp" goes by tcpbp alone; leave it out, or choose '
        "another scheme",
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "semper", k = 0 }\n[run]',
        "routing.scheme.k: 0 must be at least 1",
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "disjoint", shares = "capacity" }\n[run]',
        'routing.scheme.shares: is a parameter of semper (scheme); the scheme here is "disjoint", '
        "which has k",
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "semper", shares = "capacity" }\nload_balancing = "hash"\n[run]',
        'routing.load_balancing: "hash" gives every path the same share, and these have shares of their own; '
        'take "weighted-hash" or "resilient-hash"',
    ),
    (
        "[run]",
        '[routing]\nload_balancing = { algorithm = "hash", idle_timeout = "5 s" }\n[run]',
        "routing.load_balancing.idle_timeout: is a parameter of subflow-round-robin (load_balancing); the "
        'load_balancing here is "hash", which has no parameters',
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "tcpbp", model = "mathis" }\n[run]',
        'routing.scheme.model: is a parameter of tcpbp-exact (scheme); the scheme here is "tcpbp", '
        "which has k",
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "tcpbp-exact", model = "matis" }\n[run]',
        'routing.scheme.model: "matis" is not known; nearest: "mathis"; there are "mathis", "pftk", '
        '"cubic", "bbr", "transport"',
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "tcpbp-exact", sharing = "pair" }\n[run]',
        'routing.scheme.sharing: belongs to a model; add one, such as model = "transport", or leave this out',
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "tcpbp-exact", model = "bbr", objective = "total" }\n[run]',
        'routing.scheme.objective: belongs to sharing = "all-pairs"; without it each pair has its own '
        "best path",
    ),
    (
        "[run]",
        '[routing]\nscheme = { algorithm = "tcpbp-exact", model = "bbr", k = 2 }\n[run]',
        "routing.scheme.k: with a model each pair has one path, the best; leave k out, or the model",
    ),
]
