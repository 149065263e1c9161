/// On whose behalf requests are made, where that counts: those of one share take a part of a host's requests at most.
package enum OutboundShare {
    /// Nil for requests that the service makes by itself.
    @TaskLocal package static var current: String?
}
