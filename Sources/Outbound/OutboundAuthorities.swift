import NIOSSL

/// Certificate authorities that outgoing requests trust beside the system's: those of a company's own services.
package struct OutboundAuthorities: Sendable {
    let certificates: [NIOSSLCertificate]

    /// None.
    package init() { certificates = [] }

    /// - Parameter file: the path of a PEM file of one or more.
    package init(file: String) throws { certificates = try NIOSSLCertificate.fromPEMFile(file) }

    /// For a client that trusts them too.
    var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if !certificates.isEmpty { configuration.additionalTrustRoots = [.certificates(certificates)] }
        return configuration
    }
}
