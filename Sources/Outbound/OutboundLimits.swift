/// What one outgoing request may take; passed in, so that tests need not wait for the real ones.
package struct OutboundLimits: Sendable, Hashable {
    /// How long the name's look-up, and each attempt to connect, may take.
    package var connect: Duration = .seconds(5)
    /// How long the other side may send nothing.
    package var read: Duration = .seconds(10)
    /// How long the whole may take, waiting for a free connection and reading the body included.
    package var total: Duration = .seconds(10)
    /// Bytes of a response body; a request may ask for less.
    package var maximumResponseSize = 1 << 20
    /// Connections to one host; further requests to it wait, those to other hosts don't notice.
    package var connectionsPerHost = 16
    /// Requests to one host that are under way or wait; further ones are refused as ``OutboundError/busy``.
    package var requestsPerHost = 256
    /// Those of them that may be of one ``OutboundShare``.
    package var requestsPerShare = 64
    /// How long an answered name look-up is reused.
    package var addressLifetime: Duration = .seconds(60)
    /// Hosts remembered at a time; the one unused for longest is forgotten first.
    package var hosts = 256

    package init() {}
}
