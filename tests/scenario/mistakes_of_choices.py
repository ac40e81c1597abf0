"""Choices that are not there, and that do not go together: mostly of routing."""

# What is put in place of a line of the scenario, and the only message.
CHOICES: list[tuple[str, str, str]] = [
    (
        "[run]",
        '[routing]\nscheme = "shortst"\n[run]',
        'routing.scheme: "shortst" is not known; nearest: "shortest"; there are '
        '"shortest", "ecmp", "k-shortest", '
        '"disjoint", "max-flow", "tcpbp", "tcpbp-exact", "semper", '
        '"robust", "hybrid-hop", "hybrid-delay", "robust-optimal", "robust-single"',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nsize = { distribution = "zipf", mean = "1 MB" }',
        'traffic[0].size: distribution "zipf" is not known; there are "constant", "uniform", "exponential", '
        '"gaussian", "log-normal", "pareto", "empirical"',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nsize = { mean = "1 MB" }',
        'traffic[0].size: a table here needs the key "distribution": one of "constant", '
        '"uniform", "exponential", '
        '"gaussian", "log-normal", "pareto", "empirical"',
    ),
    (
        "[run]",
        '[routing]\nspread = "flowlet"\n[run]',
        'routing.flowlet_gap: is missing; spread = "flowlet" needs one, for example "50 ms"',
    ),
    (
        "[run]",
        "[routing]\nk = 2\n[run]",
        'routing.k: scheme "shortest" takes no k; it belongs to k-shortest, disjoint, semper, tcpbp, '
        "tcpbp-exact, robust, hybrid-hop, hybrid-delay, robust-optimal and robust-single",
    ),
    *(
        (
            "[run]",
            f'[routing]\nscheme = "{scheme}"\nmetric = "{metric}"\n[run]',
            f'routing.metric: is "{metric}", which is no sum over links, and scheme "{scheme}" needs one: '
            'choose among "hops", "hops-then-delay", "delay", "inverse-capacity", "loss", "smm", or write '
            'scheme = "shortest" or "k-shortest"',
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
        'routing.metric: is "delay", but scheme "tcpbp" goes by tcpbp alone; leave it out, or write scheme = '
        '"shortest" or "k-shortest"',
    ),
    (
        "[run]",
        '[routing]\nscheme = "semper"\nk = 0\n[run]',
        "routing.k: 0 must be at least 1",
    ),
    (
        "[run]",
        '[routing]\nscheme = "disjoint"\nshares = "capacity"\n[run]',
        'routing.shares: scheme "disjoint" takes no shares; they belong to semper',
    ),
    (
        "[run]",
        '[routing]\nscheme = "semper"\nshares = "capacity"\nspread = "hash"\n[run]',
        'routing.spread: "hash" gives every path the same share, and these have shares of their own; '
        'take "weighted-hash" or "resilient-hash"',
    ),
    (
        "[run]",
        '[routing]\nspread = "hash"\nidle_timeout = "5 s"\n[run]',
        'routing.idle_timeout: only spread = "subflow-round-robin" has one; here spread is "hash"',
    ),
    (
        "[run]",
        '[routing]\nscheme = "tcpbp"\nmodel = "mathis"\n[run]',
        'routing.model: scheme "tcpbp" takes no model; it belongs to tcpbp-exact',
    ),
    (
        "[run]",
        '[routing]\nscheme = "tcpbp-exact"\nmodel = "matis"\n[run]',
        'routing.model: "matis" is not known; nearest: "mathis"; there are "mathis", "pftk", "cubic", "bbr", '
        '"transport"',
    ),
    (
        "[run]",
        '[routing]\nscheme = "tcpbp-exact"\nsharing = "pair"\n[run]',
        'routing.sharing: belongs to a model; add one, such as model = "transport", or leave this out',
    ),
    (
        "[run]",
        '[routing]\nscheme = "tcpbp-exact"\nmodel = "bbr"\nobjective = "total"\n[run]',
        'routing.objective: belongs to sharing = "all-pairs"; without it each pair has its own best path',
    ),
    (
        "[run]",
        '[routing]\nscheme = "tcpbp-exact"\nmodel = "bbr"\nk = 2\n[run]',
        "routing.k: with a model each pair has one path, the best; leave k out, or the model",
    ),
]
