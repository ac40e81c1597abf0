"""An example for each table of a scenario or a study, and for each table that a field may be.

``tests/house/test_doc_examples.py`` loads them where they end up, in docs/reference.md.
"""

TABLES = {
    "scenario": """
title = "Two hosts"
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
from = "left1"
to = "right1"
[run]
duration = "5 s"
""",
    "network": """
[network]
topology = "leaf-spine"
delay_class = "LAN"
[network.parameters]
spines = 4
leaves = 8
[network.links]
capacity = "10 Gbps"
""",
    "network.file": """
[network]
topology = "file:testbed.graphml"
[network.file.attributes]
capacity = { name = "bw", unit = "Mbps" }
""",
    "network.file.attributes": """
[network]
topology = "file:testbed.graphml"
[network.file.attributes]
capacity = { name = "LinkFwdCap", backward = "LinkBkwdCap", unit = "Mbps" }
delay = { name = "LinkDelay", unit = "ms" }
longitude = { name = "pos[0]" }
latitude = { name = "pos[1]" }
""",
    "network.file.attributes.capacity": """
[network]
topology = "file:testbed.graphml"
[network.file.attributes.capacity]
name = "bw"
unit = "Mbps"
""",
    "network.links": """
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
queue = "100 packets"
loss = 1e-4
""",
    "network.link": """
[[network.link]]
between = ["Denver", "Kansas City"]
direction = "forward"
loss = 0.01
""",
    "network.hosts": """
[network.hosts]
offload = "44 segments"
processing_delay = { distribution = "exponential", mean = "50 us" }
""",
    "network.host": """
[[network.host]]
name = "Denver"
offload = "6 segments"
""",
    "network.routers": """
[network.routers]
processing_delay = "20 us"
""",
    "network.router": """
[[network.router]]
name = "Denver"
processing_delay = { distribution = "uniform", low = "10 us", high = "200 us" }
""",
    "network.out_of_service": """
[network.out_of_service]
links = ["Denver->Kansas City"]
nodes = ["New York"]
""",
    "network.risk_group": """
[[network.risk_group]]
name = "bridge"
links = ["Denver->Kansas City", "Sunnyvale->Los Angeles"]
""",
    "network.maintenance": """
[[network.maintenance]]
name = "splicing"
links = ["Denver->Kansas City"]
from = "22:00"
until = "04:00"
""",
    "network.node": """
[[network.node]]
name = "Salt Lake City"
latitude = 40.76
longitude = -111.89
""",
    "routing": """
[routing]
scheme = { algorithm = "disjoint", k = 3 }
metric = "delay"
load_balancing = "packet"
reaction = "200 ms"
""",
    "routing.demand": """
[routing.demand]
ingress = { Denver = "1 Gbps", "*" = "200 Mbps" }
egress = "200 Mbps"
pair = "50 Mbps"
""",
    "routing.demand.matrix": """
[network]
topology = "sndlib/germany50"
[routing.demand.matrix]
from = "topology"
unit = "1 Mbps"
direction = "both"
""",
    "controller": """
[controller]
application = { algorithm = "tcpbp", estimator = { algorithm = "ewma", weight = 0.3 }, threshold = 0.1 }
""",
    "controller.link": """
[[controller.link]]
switch = "Denver"
delay = "20 ms"
""",
    "controller.table": """
[controller.table]
size = 1000
when_full = "evict"
idle_timeout = "10 s"
""",
    "traffic": """
[[traffic]]
name = "web"
from = "*"
pairs = "permutation"
flows = 20
inter_arrival = { distribution = "exponential", mean = "100 ms" }
size = { distribution = "pareto", scale = "10 kB", shape = 1.2 }
transport = "linux-cubic"
""",
    "traffic.routing": """
[[traffic]]
from = "Seattle"
to = "Atlanta"
size = "unlimited"
routing = { scheme = "shortest", metric = "delay" }
""",
    "traffic.reads": """
[[traffic]]
from = "Seattle"
to = "Atlanta"
size = "unlimited"
transport = "linux-cubic"
[traffic.reads]
rate = "2 Mbps"
block = "64 kB"
pause = "5 s"
resume = "8 s"
""",
    "traffic.collective": """
[[traffic]]
from = "*"
transport = "uet"
[traffic.collective]
operation = "ring-all-reduce"
bytes = "16 MB"
""",
    "traffic.matrix": """
[[traffic]]
size = "100 kB"
[traffic.matrix]
from = "gravity"
total = "20 Mbps"
""",
    "transport.NAME": """
[transport.patient]
preset = "linux-cubic"
min_rto = "1 s"
ecn = true
""",
    "profile": """
[[profile]]
link = ["Denver", "Kansas City"]
from = "file:cell.csv"
repeat = "60 s"
""",
    "event": """
[[event]]
at = "10 s"
link = ["Denver", "Kansas City"]
state = "down"
""",
    "run": """
[run]
duration = "30 s"
seed = 1
sample_interval = "50 ms"
sequences = ["web.0"]
log = ["web.0"]
""",
    "capture": """
[[capture]]
file = "denver.pcapng"
host = "Denver"
snap_length = "128 B"
""",
    "study": """
title = "Two transports"
scenario = "dumbbell.toml"
replications = 5
""",
    "factor": """
[[factor]]
field = "network.links.queue"
label = "queue"
levels = ["10 packets", "100 packets"]
""",
    "factor.range": """
[[factor]]
field = "network.links.delay"
range = { from = "0 ms", to = "20 ms", step = "5 ms" }
""",
    "factor.level": """
[[factor]]
label = "network"
[[factor.level]]
label = "small"
set = { "network.parameters.hosts" = 2, "network.links.capacity" = "10 Mbps" }
[[factor.level]]
label = "large"
set = { "network.parameters.hosts" = 20, "network.links.capacity" = "1 Gbps" }
""",
    "metric": """
[[metric]]
name = "fct_p95_us"
label = "95th percentile of completion (us)"
column = "completion_s"
statistic = "p95"
scale = 1e6
""",
    "network.links.shaper": """
[network.links]
shaper = { rate = "20 Mbps", burst = "40 kB", peak_rate = "100 Mbps" }
""",
    "network.links.policer": """
[network.links]
policer = { rate = "20 Mbps", burst = "100 kB" }
""",
    "network.links.reorder": """
[network.links]
delay = "10 ms"
reorder = { probability = 0.01, gap = 5 }
""",
    "output": """
[output]
figures = ["png", "pdf"]
""",
}
"""By the path of the table."""

VARIANTS = {
    "Own": '[transport.mine]\npreset = "newreno"\n'
    'congestion_control = { python = "own/gentle.py:Gentle", beta = 0.8 }',
    "DistanceDelay": '[network.links]\ndelay = { from = "distance", speed = "200 km/ms", plus = "1 ms" }',
    "BandwidthDelay": '[network.links]\nqueue = { bdp = 1.5, rtt = "40 ms" }',
    "Shaper": '[network.links]\nshaper = { rate = "20 Mbps", burst = "40 kB", peak_rate = "100 Mbps" }',
    "Policer": '[network.links]\npolicer = { rate = "20 Mbps", burst = "100 kB" }',
    "Reorder": "[network.links]\nreorder = { probability = 0.01, gap = 5 }",
    "PacketChance": "[network.links]\nduplicate = { probability = 0.01, correlation = 0.25 }",
    "PairRates": '[network]\ntopology = "sndlib/germany50"\n'
    '[routing.demand]\npair = { from = "topology", unit = "1 Mbps", direction = "both" }',
    "GivenPath": '[network]\ntopology = "zoo/Abilene"\n[[traffic]]\nfrom = "Denver"\nto = "Houston"\n'
    '[routing]\nscheme = "given"\n[[routing.paths]]\nnodes = ["Denver", "Kansas City", "Houston"]',
    "RateApplication": '[[traffic]]\nfrom = "Denver"\nto = "Atlanta"\n'
    'application = { kind = "poisson", message = "1 kB", rate = "500 kbps" }',
    "MessageApplication": '[[traffic]]\nfrom = "Denver"\nto = "Atlanta"\n'
    'application = { kind = "messages", message = "10 kB", gap = '
    '{ distribution = "uniform", low = "1 ms", high = "3 ms" } }',
    "PingApplication": '[[traffic]]\nfrom = "Denver"\nto = "Atlanta"\n'
    'application = { kind = "ping", interval = "200 ms" }',
    "UdpApplication": '[[traffic]]\nfrom = "Denver"\nto = "Atlanta"\n'
    'application = { kind = "udp", rate = "80 kbps", packet = "200 B" }',
}
"""By the name of the table that the field may be."""

DISTRIBUTIONS = {
    "constant": '{ distribution = "constant", value = "5 ms" }',
    "uniform": '{ distribution = "uniform", low = "1 ms", high = "3 ms" }',
    "exponential": '{ distribution = "exponential", mean = "500 ms" }',
    "gaussian": '{ distribution = "gaussian", mean = "5 ms", standard_deviation = "1 ms" }',
    "log-normal": '{ distribution = "log-normal", mean = "100 ms", standard_deviation = "200 ms" }',
    "pareto": '{ distribution = "pareto", scale = "10 ms", shape = 1.2 }',
    "empirical": '{ distribution = "empirical", values = ["1 ms", "10 ms"], weights = [0.9, 0.1] }',
    "cumulative": '{ distribution = "cumulative", values = ["1 ms", "10 ms"], probabilities = [0.2, 1.0] }',
}
"""By the name of the distribution; of times, as all of them can be."""

COMMANDS = {
    "examples": "anabranch examples first.toml",
    "help": "anabranch help routing",
    "run": 'anabranch run examples/abilene.toml --set run.duration="5 s" --seed 2 --out results/first',
    "routes": "anabranch routes examples/abilene.toml --set routing.scheme=disjoint",
    "brief": "anabranch brief examples/isp/net.toml --growth 30 --page brief.html",
    "load": "anabranch load examples/robust_nsfnet.toml --failures --map loads.pdf --page loads.html",
    "transfers": 'anabranch transfers examples/isp/net.toml --sizes "100 kB,10 MB" --failures',
    "weights": "anabranch weights examples/isp/net.toml --failures --max-changes 4 --out results/weights",
    "capacity": 'anabranch capacity examples/isp/net.toml --module "100 Gbps" --failures links,nodes',
    "export": "anabranch export examples/abilene.toml --to iproute2 --out results/routers",
    "import": "anabranch import demands.csv --topology zoo/Abilene",
    "study": "anabranch study examples/studies/queues.toml --jobs 2",
    "evaluate": "anabranch evaluate examples/own/vegas.py:Vegas --only 5.1,5.2 --replications 3",
    "compare": "anabranch compare zoo/Abilene --systems hops,semper-mptcp,sprayed-mprc --quick",
    "report": "anabranch report results/queues --table tex --figures pdf --size ieee",
    "reproduce": "anabranch reproduce sdn A.3 --quick",
    "capture": "anabranch capture results/lossy/source.pcapng",
    "fit": "anabranch fit results/lossy/source.pcapng --out results/path",
    "predict": 'anabranch predict results/path --transport linux-bbr --buffer "2 BDP"',
    "new": "anabranch new congestion-control gentle --out results/gentle",
    "schema": "anabranch schema --study",
    "topology list": "anabranch topology list generator",
    "topology show": "anabranch topology show zoo/Abilene",
}
"""By the name of the command."""
