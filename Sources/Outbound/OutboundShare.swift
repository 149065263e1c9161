/// The share of a host's requests that a task uses: requests of one share can take only a part of a host's limit.
package enum OutboundShare {
    /// Nil for requests of the service itself.
    @TaskLocal package static var current: String?
}
