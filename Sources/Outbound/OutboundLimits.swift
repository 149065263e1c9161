/// The limits of one outgoing request, which tests can shorten.
package struct OutboundLimits: Sendable, Hashable {
    /// The time for the name lookup, and for each attempt to connect.
    package var connect: Duration = .seconds(5)
    /// How long the other service may send nothing.
    package var read: Duration = .seconds(10)
    /// The total time, including the wait for a free connection and reading the body.
    package var total: Duration = .seconds(10)
    /// Bytes of a response body; a request may set a lower limit.
    package var maximumResponseSize = 1 << 20
    /// Requests to one host that are in progress, each on its own connection; further ones are refused with
    /// ``OutboundError/busy``, without affecting other hosts.
    package var requestsPerHost = 256
    /// The maximum number of them that belong to one ``OutboundShare``.
    package var requestsPerShare = 64
    /// How long a name lookup is reused.
    package var addressLifetime: Duration = .seconds(60)
    /// How long the last addresses of a host serve while it cannot be looked up.
    package var addressMemory: Duration = .seconds(3_600)
    /// How long a request waits for a lookup if the last addresses are known.
    package var patience: Duration = .seconds(1)
    /// The time between a lookup that failed, or takes too long, and the next.
    package var lookupPause: Duration = .seconds(5)
    /// Name lookups in progress, each of another host.
    package var lookups = 32
    /// The maximum number of them that belong to one ``OutboundShare``.
    package var lookupsPerShare = 4
    /// The number of hosts in the cache; the least recently used one is dropped first.
    package var hosts = 256

    package init() {}
}
