// The ns-3 side of `make validate`: runs one network, given as text on standard input, and writes
// one JSON object to standard output.
//
// The network comes from checks/validation/scenarios.py, which also describes it to Anabranch, so that
// this program knows no topology of its own. Input, one item a line, blank separated:
//
//   link A B RATE_BPS DELAY_NS QUEUE_PACKETS LOSS_A_TO_B LOSS_B_TO_A
//   flow FROM TO START_NS
//
// Node names are made on first use. The transport and the run are options (`peer --help`).
//
// Choices that make ns-3 comparable, all against its defaults: segments of 1448 bytes in place of
// 536, socket buffers that never limit, an initial window of ten, no queue disc in front of a
// device, drop-tail device queues of the stated length. Left at its defaults: SACK, timestamps,
// window scaling, limited transmit, PRR, three duplicate ACKs. CPU time is that of
// Simulator::Run alone.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// A full-duplex link; both directions have the same rate, delay and queue.
struct LinkInput
{
    std::string a;
    std::string b;
    uint64_t rateBps;
    int64_t delayNs;
    uint32_t queuePackets;
    double lossAToB;
    double lossBToA;
};

/// One TCP connection with unlimited data.
struct FlowInput
{
    std::string from;
    std::string to;
    int64_t startNs;
};

/// What standard input says.
struct NetworkInput
{
    std::vector<LinkInput> links;
    std::vector<FlowInput> flows;
};

/// What the command line says.
struct Options
{
    std::string transport = "newreno";
    double durationS = 30.0;
    double warmupS = 5.0;
    uint32_t seed = 1;
    uint32_t segmentBytes = 1448;
    uint32_t initialWindowSegments = 10;
    uint32_t delayedAckSegments = 2;
    double delayedAckTimeoutMs = 200.0;
    double minRtoMs = 1000.0;
    uint32_t bufferBytes = 6291456;
    bool hystart = true;
    bool sprayPackets = false;
};

/// Counts over all devices.
struct Counters
{
    uint64_t packetHops = 0;
    uint64_t queueDrops = 0;
    uint64_t randomLosses = 0;
};

/// The built network, kept for address look-up.
struct Built
{
    std::map<std::string, Ptr<Node>> nodes;
    std::vector<Ptr<PacketSink>> sinks;
};

Counters g_counters;

/// TcpLinuxReno that grows in congestion avoidance as Linux and RFC 5681 do, in two respects: the ACK
/// that ends fast recovery, which covers the whole window, adds nothing to the window; and the count
/// towards the next increment begins anew with each reduction.
class RepairedReno : public TcpLinuxReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("RepairedReno").SetParent<TcpLinuxReno>().AddConstructor<RepairedReno>();
        return tid;
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<RepairedReno>(this);
    }

    void CongestionStateSet(Ptr<TcpSocketState> state,
                            const TcpSocketState::TcpCongState_t next) override
    {
        m_recoveryEnds = state->m_congState == TcpSocketState::CA_RECOVERY &&
                         next == TcpSocketState::CA_OPEN;
        if (next == TcpSocketState::CA_RECOVERY || next == TcpSocketState::CA_LOSS)
        {
            m_counted = 0;
        }
        TcpLinuxReno::CongestionStateSet(state, next);
    }

    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t segmentsAcked) override
    {
        if (m_recoveryEnds)
        {
            m_recoveryEnds = false;
            return;
        }
        TcpLinuxReno::IncreaseWindow(state, segmentsAcked);
    }

  protected:
    void CongestionAvoidance(Ptr<TcpSocketState> state, uint32_t segmentsAcked) override
    {
        const uint32_t window = std::max<uint32_t>(1, state->m_cWnd.Get() / state->m_segmentSize);
        m_counted += segmentsAcked;
        if (m_counted >= window)
        {
            state->m_cWnd += m_counted / window * state->m_segmentSize;
            m_counted %= window;
        }
    }

  private:
    uint32_t m_counted = 0;
    bool m_recoveryEnds = false;
};

NS_OBJECT_ENSURE_REGISTERED(RepairedReno);

/// TcpPrrRecovery that counts as delivered what the SACK blocks say (RFC 6937), without the further
/// segment that ns-3 3.44 adds for each duplicate ACK. Earlier versions are not told of such ACKs,
/// and are left as they are.
class RepairedPrr : public TcpPrrRecovery
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("RepairedPrr").SetParent<TcpPrrRecovery>().AddConstructor<RepairedPrr>();
        return tid;
    }

    Ptr<TcpRecoveryOps> Fork() override
    {
        return CopyObject<RepairedPrr>(this);
    }

#if NS3_MINOR >= 42
    void DoRecovery(Ptr<TcpSocketState> state, uint32_t deliveredBytes, bool) override
    {
        TcpPrrRecovery::DoRecovery(state, deliveredBytes, false);
    }
#endif
};

NS_OBJECT_ENSURE_REGISTERED(RepairedPrr);

void
CountHop(Ptr<const Packet>)
{
    ++g_counters.packetHops;
}

void
CountQueueDrop(Ptr<const Packet>)
{
    ++g_counters.queueDrops;
}

void
CountRandomLoss(Ptr<const Packet>)
{
    ++g_counters.randomLosses;
}

/// Reads the network or ends the program with the line that is wrong.
NetworkInput
ReadNetwork(std::istream& input)
{
    NetworkInput network;
    std::string line;
    for (int number = 1; std::getline(input, line); ++number)
    {
        std::istringstream fields(line);
        std::string kind;
        fields >> kind;
        if (kind == "link")
        {
            LinkInput l;
            fields >> l.a >> l.b >> l.rateBps >> l.delayNs >> l.queuePackets >> l.lossAToB >>
                l.lossBToA;
            network.links.push_back(l);
        }
        else if (kind == "flow")
        {
            FlowInput f;
            fields >> f.from >> f.to >> f.startNs;
            network.flows.push_back(f);
        }
        else if (!kind.empty())
        {
            NS_FATAL_ERROR("line " << number << ": neither link nor flow: " << line);
        }
        NS_ABORT_MSG_IF(!kind.empty() && fields.fail(), "line " << number << " is cut: " << line);
    }
    NS_ABORT_MSG_IF(network.links.empty() || network.flows.empty(), "no links or no flows");
    return network;
}

/// ns-3's class for a transport's name.
///
/// Anabranch's `newreno` counts bytes (RFC 3465), which in ns-3 is TcpLinuxReno; TcpNewReno adds one
/// increment an ACK and so halves its growth under delayed ACKs. `newreno-per-ack` is the latter,
/// `newreno-repaired` the former without what docs/validation.md finds in it.
std::string
CongestionType(const std::string& transport)
{
    static const std::map<std::string, std::string> types = {
        {"newreno", "ns3::TcpLinuxReno"},
        {"newreno-per-ack", "ns3::TcpNewReno"},
        {"newreno-repaired", "RepairedReno"},
        {"cubic", "ns3::TcpCubic"},
        {"bbr", "ns3::TcpBbr"},
    };
    const auto found = types.find(transport);
    NS_ABORT_MSG_IF(found == types.end(), "no such transport: " << transport);
    return found->second;
}

void
SetDefaults(const Options& options)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(CongestionType(options.transport))));
    if (options.transport == "newreno-repaired")
    {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                           TypeIdValue(RepairedPrr::GetTypeId()));
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options.segmentBytes));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(options.bufferBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.bufferBytes));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(options.initialWindowSegments));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.delayedAckSegments));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout",
                       TimeValue(MicroSeconds(options.delayedAckTimeoutMs * 1000)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto",
                       TimeValue(MicroSeconds(options.minRtoMs * 1000)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(options.hystart));
    Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting",
                       BooleanValue(options.sprayPackets));
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(options.seed);
}

/// Random loss of packets that arrive at a device.
void
SetLoss(Ptr<NetDevice> receiver, double probability)
{
    if (probability <= 0)
    {
        return;
    }
    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(probability);
    receiver->SetAttribute("ReceiveErrorModel", PointerValue(errors));
}

void
Watch(Ptr<NetDevice> device)
{
    device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&CountHop));
    device->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&CountRandomLoss));
    device->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&CountQueueDrop));
}

/// Nodes with an Internet stack, links with addresses, and global routes.
Built
BuildNetwork(const NetworkInput& input)
{
    Built built;
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    for (const LinkInput& link : input.links)
    {
        for (const std::string& name : {link.a, link.b})
        {
            if (built.nodes.count(name) == 0)
            {
                built.nodes[name] = CreateObject<Node>();
                stack.Install(built.nodes[name]);
            }
        }
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    for (const LinkInput& link : input.links)
    {
        PointToPointHelper helper;
        // Flow control towards the traffic-control layer would bring ns-3's default queue disc back
        // and move the drops there.
        helper.DisableFlowControl();
        helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link.rateBps)));
        helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(link.delayNs)));
        const std::string limit = std::to_string(link.queuePackets) + "p";
        helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(limit));
        NetDeviceContainer devices = helper.Install(built.nodes[link.a], built.nodes[link.b]);
        SetLoss(devices.Get(1), link.lossAToB);
        SetLoss(devices.Get(0), link.lossBToA);
        for (uint32_t i = 0; i < 2; ++i)
        {
            Watch(devices.Get(i));
        }
        addresses.Assign(devices);
        addresses.NewNetwork();
        for (uint32_t i = 0; i < 2; ++i)
        {
            Ptr<TrafficControlLayer> control =
                devices.Get(i)->GetNode()->GetObject<TrafficControlLayer>();
            NS_ABORT_MSG_IF(control->GetRootQueueDiscOnDevice(devices.Get(i)),
                            "a queue disc stands in front of a device");
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return built;
}

/// A sink and an unlimited sender for each flow.
void
InstallFlows(const NetworkInput& input, const Options& options, Built& built)
{
    uint16_t port = 5000;
    for (const FlowInput& flow : input.flows)
    {
        NS_ABORT_MSG_IF(built.nodes.count(flow.from) + built.nodes.count(flow.to) != 2,
                        "a flow between unknown nodes: " << flow.from << " " << flow.to);
        Ptr<Node> receiver = built.nodes[flow.to];
        // Interface 0 is the loopback.
        const Ipv4Address to = receiver->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        built.sinks.push_back(DynamicCast<PacketSink>(sink.Install(receiver).Get(0)));
        BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(to, port));
        sender.SetAttribute("MaxBytes", UintegerValue(0));
        // Writes of whole segments spare ns-3 the joining of pieces, which would cost it speed.
        sender.SetAttribute("SendSize", UintegerValue(options.segmentBytes));
        ApplicationContainer application = sender.Install(built.nodes[flow.from]);
        application.Start(NanoSeconds(flow.startNs));
        ++port;
    }
}

void
ReadSinks(const std::vector<Ptr<PacketSink>>* sinks, std::vector<uint64_t>* bytes)
{
    bytes->clear();
    for (const Ptr<PacketSink>& sink : *sinks)
    {
        bytes->push_back(sink->GetTotalRx());
    }
}

/// User and system time of this process so far.
double
CpuSeconds()
{
    rusage usage;
    NS_ABORT_MSG_IF(getrusage(RUSAGE_SELF, &usage) != 0, "getrusage failed");
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void
WriteList(const char* name, const std::vector<uint64_t>& values)
{
    std::cout << '"' << name << "\": [";
    for (size_t i = 0; i < values.size(); ++i)
    {
        std::cout << (i == 0 ? "" : ", ") << values[i];
    }
    std::cout << "]";
}

Options
ReadOptions(int argc, char* argv[])
{
    Options o;
    CommandLine command(__FILE__);
    command.AddValue("transport", "newreno, newreno-per-ack, newreno-repaired, cubic or bbr", o.transport);
    command.AddValue("duration-s", "Simulated seconds", o.durationS);
    command.AddValue("warmup-s", "Seconds before the second count of bytes begins", o.warmupS);
    command.AddValue("seed", "ns-3's run number", o.seed);
    command.AddValue("segment-bytes", "Payload of a full segment", o.segmentBytes);
    command.AddValue("initial-window", "Segments", o.initialWindowSegments);
    command.AddValue("delayed-ack-segments", "Segments an ACK", o.delayedAckSegments);
    command.AddValue("delayed-ack-timeout-ms", "Milliseconds", o.delayedAckTimeoutMs);
    command.AddValue("min-rto-ms", "Milliseconds", o.minRtoMs);
    command.AddValue("buffer-bytes", "Send and receive buffer of a socket", o.bufferBytes);
    command.AddValue("hystart", "Classic HyStart in CUBIC", o.hystart);
    command.AddValue("spray", "Choose among equal-cost routes packet by packet", o.sprayPackets);
    command.Parse(argc, argv);
    return o;
}

} // namespace

int
main(int argc, char* argv[])
{
    const Options options = ReadOptions(argc, argv);
    const NetworkInput input = ReadNetwork(std::cin);
    SetDefaults(options);
    Built built = BuildNetwork(input);
    InstallFlows(input, options, built);

    std::vector<uint64_t> atWarmup;
    std::vector<uint64_t> atEnd;
    Simulator::Schedule(Seconds(options.warmupS), &ReadSinks, &built.sinks, &atWarmup);
    Simulator::Stop(Seconds(options.durationS));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpu = CpuSeconds() - before;
    ReadSinks(&built.sinks, &atEnd);

    std::cout << std::setprecision(9) << "{";
    WriteList("bytes_at_warmup", atWarmup);
    std::cout << ", ";
    WriteList("bytes_at_end", atEnd);
    std::cout << ", \"packet_hops\": " << g_counters.packetHops
              << ", \"queue_drops\": " << g_counters.queueDrops
              << ", \"random_losses\": " << g_counters.randomLosses
              << ", \"events\": " << Simulator::GetEventCount() << ", \"cpu_s\": " << cpu << "}\n";
    Simulator::Destroy();
    return 0;
}
