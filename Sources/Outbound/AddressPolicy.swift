package import Text

/// The addresses that the service may call.
package struct AddressPolicy: Sendable, Hashable {
    /// For `identity dev` and tests.
    package var allowsLoopback: Bool
    /// For providers inside the operator's own network.
    package var allowsPrivateNetworks: Bool

    package init(allowsLoopback: Bool = false, allowsPrivateNetworks: Bool = false) {
        self.allowsLoopback = allowsLoopback
        self.allowsPrivateNetworks = allowsPrivateNetworks
    }

    /// - Parameter encrypted: plain http is only allowed for loopback.
    package func allows(_ address: IPAddress, encrypted: Bool) -> Bool {
        if address.isLoopback { return allowsLoopback }
        guard encrypted else { return false }
        return address.isPublic || (allowsPrivateNetworks && address.isPrivateNetwork)
    }
}
