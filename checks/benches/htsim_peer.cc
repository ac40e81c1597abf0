// The htsim side of checks/benches/htsim_ratio.py: simulates one scenario and writes one line of JSON.
//
//   htsim_peer dumbbell FLOWS BOTTLENECK_BPS DELAY_US QUEUE_PACKETS DURATION_US
//   htsim_peer leaf-spine SPINES LEAVES HOSTS_PER_LEAF DURATION_US
//   htsim_peer fat-tree PORTS RATE_BPS DURATION_US
//   htsim_peer all-pairs DURATION_US
//
// The networks are those of crates/engine/tests/common and crates/engine/benches/networks: the same
// links, queues, flows and starts. A link is a queue and a pipe each way, for data and for ACKs. Where
// there are several shortest paths, each flow draws one there and one back.
//
// htsim's TCP is as its own programs use it: a scan for timeouts each 10 ms, packets of 1500 bytes, an
// initial window of ten. CPU time includes making queues, pipes, routes and flows, and leaves out the
// search for paths, as in Anabranch's bench.

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace
{

constexpr simtime_picosec g_psPerUs = 1000000;
constexpr uint64_t g_packetBytes = 1500;

using Path = std::vector<uint32_t>;

/// One direction of a link.
struct LinkInput
{
    linkspeed_bps rateBps;
    simtime_picosec delayPs;
    uint64_t queuePackets;
};

/// One connection; its links are in Input::hops, those of the way back behind those of the way there.
struct FlowInput
{
    simtime_picosec startPs;
    uint64_t packets; // 0: without end
    uint8_t hopsThere;
    uint8_t hopsBack;
};

/// What is to be simulated.
struct Input
{
    std::vector<LinkInput> links;
    std::vector<FlowInput> flows;
    Path hops;
    std::mt19937 random{1};

    /// Adds a link each way; the way back has the next number.
    uint32_t Link(linkspeed_bps rateBps, simtime_picosec delayPs, uint64_t queuePackets)
    {
        links.insert(links.end(), 2, {rateBps, delayPs, queuePackets});
        return static_cast<uint32_t>(links.size()) - 2;
    }

    void Flow(const Path& there, const Path& back, simtime_picosec startPs, uint64_t packets)
    {
        flows.push_back({startPs,
                         packets,
                         static_cast<uint8_t>(there.size()),
                         static_cast<uint8_t>(back.size())});
        hops.insert(hops.end(), there.begin(), there.end());
        hops.insert(hops.end(), back.begin(), back.end());
    }

    uint32_t Draw(uint64_t below)
    {
        return static_cast<uint32_t>(random() % below);
    }
};

/// A pipe that counts the packets that have crossed it.
class CountedPipe : public Pipe
{
  public:
    using Pipe::Pipe;

    void doNextEvent() override
    {
        ++packetHops;
        Pipe::doNextEvent();
    }

    static uint64_t packetHops;
};

uint64_t CountedPipe::packetHops = 0;

Input
Dumbbell(uint64_t flows, linkspeed_bps rateBps, uint64_t delayUs, uint64_t queuePackets)
{
    Input input;
    const uint32_t middle = input.Link(rateBps, delayUs * g_psPerUs, queuePackets);
    for (uint64_t i = 0; i < flows; ++i)
    {
        const uint32_t left = input.Link(10 * rateBps, 10 * g_psPerUs, 10000);
        const uint32_t right = input.Link(10 * rateBps, 10 * g_psPerUs, 10000);
        const simtime_picosec start = 100000 * i / flows * g_psPerUs;
        input.Flow({left, middle, right}, {right + 1, middle + 1, left + 1}, start, 0);
    }
    return input;
}

Input
LeafSpine(uint64_t spines, uint64_t leaves, uint64_t hostsPerLeaf)
{
    Input input;
    const auto link = [&input] { return input.Link(10000000000, g_psPerUs, 200); };
    std::vector<Path> up(leaves);
    for (Path& ofLeaf : up)
    {
        for (uint64_t spine = 0; spine < spines; ++spine)
        {
            ofLeaf.push_back(link());
        }
    }
    Path hosts;
    for (uint64_t host = 0; host < leaves * hostsPerLeaf; ++host)
    {
        hosts.push_back(link());
    }
    const auto path = [&](uint64_t from, uint64_t to) -> Path {
        const uint32_t spine = input.Draw(spines);
        return {hosts[from],
                up[from / hostsPerLeaf][spine],
                up[to / hostsPerLeaf][spine] + 1,
                hosts[to] + 1};
    };
    for (uint64_t from = 0; from < hosts.size(); ++from)
    {
        const uint64_t to = (from + hostsPerLeaf) % hosts.size();
        input.Flow(path(from, to), path(to, from), 0, 0);
    }
    return input;
}

Input
FatTree(uint64_t ports, linkspeed_bps rateBps)
{
    Input input;
    const uint64_t half = ports / 2;
    const auto link = [&] { return input.Link(rateBps, g_psPerUs, 200); };
    // Links of pod p: from its aggregation switch a to the core as number [p][a * half + c], from its
    // edge switch e to a as [p][e * half + a], and hosts in their order.
    std::vector<Path> core(ports);
    std::vector<Path> aggregation(ports);
    Path hosts;
    for (uint64_t pod = 0; pod < ports; ++pod)
    {
        for (uint64_t i = 0; i < half * half; ++i)
        {
            core[pod].push_back(link());
            aggregation[pod].push_back(link());
            hosts.push_back(link());
        }
    }
    const auto path = [&](uint64_t from, uint64_t to) -> Path {
        const uint64_t perPod = half * half;
        const uint32_t over = input.Draw(half);
        const uint32_t through = over * half + input.Draw(half);
        return {hosts[from],
                aggregation[from / perPod][from % perPod / half * half + over],
                core[from / perPod][through],
                core[to / perPod][through] + 1,
                aggregation[to / perPod][to % perPod / half * half + over] + 1,
                hosts[to] + 1};
    };
    for (uint64_t from = 0; from < hosts.size(); ++from)
    {
        const uint64_t to = (from + half * half) % hosts.size();
        input.Flow(path(from, to), path(to, from), 0, 0);
    }
    return input;
}

/// For each node the number of the link that leads to it in the tree of shortest delays from a root.
Path
ShortestTree(const std::vector<std::vector<std::pair<uint32_t, uint32_t>>>& neighbours,
             const std::vector<LinkInput>& links,
             uint32_t root)
{
    using Entry = std::pair<simtime_picosec, uint32_t>;
    std::vector<simtime_picosec> least(neighbours.size(), ~simtime_picosec{0});
    Path by(neighbours.size());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> open;
    least[root] = 0;
    open.push({0, root});
    while (!open.empty())
    {
        const auto [delay, node] = open.top();
        open.pop();
        if (delay > least[node])
        {
            continue;
        }
        for (const auto& [next, link] : neighbours[node])
        {
            if (delay + links[link].delayPs < least[next])
            {
                least[next] = delay + links[link].delayPs;
                by[next] = link;
                open.push({least[next], next});
            }
        }
    }
    return by;
}

Input
AllPairs()
{
    constexpr uint32_t nodes = 197;
    constexpr uint32_t chords = 48;
    Input input;
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> neighbours(nodes);
    Path tail;
    const auto connect = [&](uint32_t a, uint32_t b, uint64_t delayUs) {
        const uint32_t link = input.Link(1000000000, delayUs * g_psPerUs, 500);
        neighbours[a].push_back({b, link});
        neighbours[b].push_back({a, link + 1});
        tail.insert(tail.end(), {a, b});
    };
    for (uint32_t i = 0; i < nodes; ++i)
    {
        connect(i, (i + 1) % nodes, 300 + 37 * (i % 11));
    }
    for (uint32_t i = 0; i < chords; ++i)
    {
        const uint32_t from = i * nodes / chords;
        connect(from, (from + 40 + 13 * (i % 7)) % nodes, 900 + 41 * (i % 13));
    }
    std::vector<Path> trees;
    for (uint32_t root = 0; root < nodes; ++root)
    {
        trees.push_back(ShortestTree(neighbours, input.links, root));
    }
    const auto path = [&](uint32_t from, uint32_t to) {
        Path backwards;
        for (uint32_t node = to; node != from; node = tail[trees[from][node]])
        {
            backwards.push_back(trees[from][node]);
        }
        return Path(backwards.rbegin(), backwards.rend());
    };
    const uint64_t pairs = nodes * (nodes - 1);
    for (uint64_t number = 0; number < pairs; ++number)
    {
        const uint32_t from = number % nodes;
        const uint32_t to = (from + 1 + number / nodes) % nodes;
        // 20 kB are 14 segments of 1448 bytes.
        input.Flow(path(from, to), path(to, from), 1000000 * number / pairs * g_psPerUs, 14);
    }
    return input;
}

double
CpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Peak resident memory; getrusage would count what the starting process had, too.
uint64_t
PeakBytes()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    uint64_t kilobytes = 0;
    while (status >> word && word != "VmHWM:")
    {
    }
    status >> kilobytes;
    return 1024 * kilobytes;
}

/// Makes htsim's objects, which live until the program ends; returns the receivers.
std::vector<TcpSink*>
Build(Input& input, EventList& events)
{
    std::vector<std::pair<Queue*, CountedPipe*>> links;
    links.reserve(input.links.size());
    for (const LinkInput& link : input.links)
    {
        const auto room = static_cast<mem_b>(link.queuePackets * g_packetBytes);
        auto* queue = new Queue(link.rateBps, room, events, nullptr);
        links.emplace_back(queue, new CountedPipe(link.delayPs, events));
    }
    std::vector<LinkInput>().swap(input.links); // so that it does not count as htsim's memory
    auto* timeouts = new TcpRtxTimerScanner(timeFromMs(10), events);
    const uint32_t* hop = input.hops.data();
    const auto route = [&](uint8_t hops, PacketSink* end) {
        auto* made = new Route(2 * hops + 1);
        for (uint8_t i = 0; i < hops; ++i, ++hop)
        {
            made->push_back(links[*hop].first);
            made->push_back(links[*hop].second);
        }
        made->push_back(end);
        return made;
    };
    std::vector<TcpSink*> sinks;
    sinks.reserve(input.flows.size());
    for (const FlowInput& flow : input.flows)
    {
        auto* source = new TcpSrc(nullptr, nullptr, events);
        sinks.push_back(new TcpSink());
        if (flow.packets > 0)
        {
            // htsim sends one packet more than the size says.
            source->set_flowsize((flow.packets - 1) * g_packetBytes - g_packetBytes + 500);
        }
        timeouts->registerTcp(*source);
        const Route* there = route(flow.hopsThere, sinks.back());
        const Route* back = route(flow.hopsBack, source);
        source->connect(*there, *back, *sinks.back(), flow.startPs);
    }
    return sinks;
}

/// Simulates and writes the line.
void
Run(Input input, uint64_t durationUs)
{
    const double start = CpuSeconds();
    EventList& events = EventList::getTheEventList();
    EventList::setEndtime(durationUs * g_psPerUs);
    const std::vector<TcpSink*> sinks = Build(input, events);
    const double built = CpuSeconds();
    while (EventList::doNextEvent())
    {
    }
    double bits = 0;
    for (const TcpSink* sink : sinks)
    {
        bits += 8.0 * static_cast<double>(sink->_cumulative_ack);
    }
    const double end = CpuSeconds();
    std::printf("{\"cpu_s\": %.6f, \"setup_s\": %.6f, \"packet_hops\": %" PRIu64
                ", \"goodput_gbps\": %.6f, \"peak_bytes\": %" PRIu64 "}\n",
                end - start,
                built - start,
                CountedPipe::packetHops,
                bits / static_cast<double>(durationUs) / 1e3,
                PeakBytes());
}

} // namespace

int
main(int argc, char** argv)
{
    const std::map<std::string, int> expected = {
        {"dumbbell", 5}, {"leaf-spine", 4}, {"fat-tree", 3}, {"all-pairs", 1}};
    const std::string kind = argc > 1 ? argv[1] : "";
    const auto known = expected.find(kind);
    std::vector<uint64_t> numbers;
    for (int i = 2; i < argc; ++i)
    {
        numbers.push_back(std::strtoull(argv[i], nullptr, 10));
    }
    if (known == expected.end() || static_cast<int>(numbers.size()) != known->second ||
        std::count(numbers.begin(), numbers.end(), 0) > 0)
    {
        std::fprintf(stderr, "htsim_peer: wrong arguments; its first lines list them\n");
        return 2;
    }
    // htsim reports each timeout and each end of a flow there, which would cost it time.
    std::cout.setstate(std::ios_base::badbit);
    const uint64_t duration = numbers.back();
    if (kind == "dumbbell")
    {
        Run(Dumbbell(numbers[0], numbers[1], numbers[2], numbers[3]), duration);
    }
    else if (kind == "leaf-spine")
    {
        Run(LeafSpine(numbers[0], numbers[1], numbers[2]), duration);
    }
    else if (kind == "fat-tree")
    {
        Run(FatTree(numbers[0], numbers[1]), duration);
    }
    else
    {
        Run(AllPairs(), duration);
    }
    return 0;
}
