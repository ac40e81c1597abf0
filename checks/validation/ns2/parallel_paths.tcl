# Section 4 of Fukushima et al. 2016 in ns-2: five NewReno connections over parallel paths, packets at random.
#
#     ns parallel_paths.tcl COMBINATION D_MS LINE_MBPS SEED SECONDS WINDOW
#
# COMBINATION has a letter for each path: S (2 ms), M (2 ms + D_MS / 2) or L (2 ms + D_MS). LINE_MBPS is the capacity of
# the sources' access lines; those of the destinations have 50 Mbps, the paths 100. Prints one line of JSON.
# Everything that is not set here has ns-2's default.

lassign $argv combination difference_ms line_mbps seed seconds window

set segment_bytes 1000
set gap_s [expr {$segment_bytes * 8 / 20e6}]
set sources 5
# The classifier of ns-2 takes its slots in turn. With so many slots, each a path drawn at random, that is a draw
# for each packet, which comes again only after as many.
set slots 20011

set ns [new Simulator]
set paths [string length $combination]
foreach stream {routes gaps} {
    set random($stream) [new RNG]
    $random($stream) seed [expr {$seed * 10 + ($stream eq "gaps")}]
}

# A simplex link with a queue of 1000 segments.
proc connect_nodes {from to mbps ms} {
    global ns
    $ns simplex-link $from $to ${mbps}Mb ${ms}ms DropTail
    $ns queue-limit $from $to 1000
}

set router(in) [$ns node]
set router(out) [$ns node]
# Two links of one pair of nodes are one in ns-2: each path has a node of its own, with nothing behind it.
for {set path 0} {$path < $paths} {incr path} {
    set letter [string index $combination $path]
    set ms [expr {2.0 + ($letter eq "L" ? $difference_ms : $letter eq "M" ? $difference_ms / 2.0 : 0.0)}]
    foreach {from to} {in out out in} {
        set middle($from,$path) [$ns node]
        connect_nodes $router($from) $middle($from,$path) 100 $ms
        connect_nodes $middle($from,$path) $router($to) 100000 0
    }
}
for {set source 0} {$source < $sources} {incr source} {
    foreach {end side mbps} [list S in $line_mbps D out 50] {
        set host($end,$source) [$ns node]
        connect_nodes $host($end,$source) $router($side) $mbps 0.2
        connect_nodes $router($side) $host($end,$source) $mbps 0.2
    }
    set tcp($source) [new Agent/TCP/Newreno]
    $tcp($source) set packetSize_ $segment_bytes
    $tcp($source) set window_ $window
    set sink($source) [new Agent/TCPSink]
    $ns attach-agent $host(S,$source) $tcp($source)
    $ns attach-agent $host(D,$source) $sink($source)
    $ns connect $tcp($source) $sink($source)
}

# Packets from a router to hosts on the other side take a path at random.
proc spread {side hosts} {
    global ns router middle paths random slots
    set classifier [new Classifier/MultiPath]
    for {set slot 0} {$slot < $slots} {incr slot} {
        set path [expr {int([$random(routes) uniform 0 $paths])}]
        $classifier install $slot [[$ns link $router($side) $middle($side,$path)] head]
    }
    foreach to $hosts { [$router($side) entry] install [$to id] $classifier }
}

# A Poisson process: a segment more to send, and the time of the next.
set interval [new RandomVariable/Exponential]
$interval use-rng $random(gaps)
$interval set avg_ $gap_s
proc offer {source} {
    global ns tcp interval
    $tcp($source) advanceby 1
    $ns at [expr {[$ns now] + [$interval value]}] "offer $source"
}

proc report {} {
    global ns tcp sources seconds segment_bytes
    foreach name {segments recoveries retransmissions timeouts} { set sum($name) 0 }
    for {set source 0} {$source < $sources} {incr source} {
        incr sum(segments) [expr {[$tcp($source) set ack_] + 1}]
        # cwnd is cut once for each fast recovery and for each timeout.
        incr sum(recoveries) [expr {[$tcp($source) set ncwndcuts_] - [$tcp($source) set nrexmit_]}]
        incr sum(retransmissions) [$tcp($source) set nrexmitpack_]
        incr sum(timeouts) [$tcp($source) set nrexmit_]
    }
    set mbps [expr {$sum(segments) * $segment_bytes * 8.0 / $seconds / 1e6}]
    puts "{\"version\": \"[ns-version]\", \"mbps\": $mbps, \"recoveries\": $sum(recoveries),\
        \"retransmissions\": $sum(retransmissions), \"timeouts\": $sum(timeouts)}"
    exit 0
}

$ns at 0.0 {
    # ns-2 has made its routes by now.
    foreach {side far end} {in out D out in S} {
        set hosts {}
        for {set source 0} {$source < $sources} {incr source} { lappend hosts $host($end,$source) }
        spread $side $hosts
    }
}
for {set source 0} {$source < $sources} {incr source} { $ns at [$interval value] "offer $source" }
$ns at $seconds report
$ns run
