package import Text

/// The numbers of the limits that count over all projects: of the whole deployment, and of networks whose users share few
/// addresses, such as a school's or a carrier's.
package struct DeploymentLimits: Sendable {
    package private(set) var numbers: RateLimitSettings
    package private(set) var networks: [Network]

    /// A network with numbers of its own for limits by address.
    package struct Network: Sendable {
        package let network: IPNetwork
        package let budgets: [RateLimitKind: RateLimitBudget]
    }

    /// - Parameter networks: in any order; of those that contain an address, the longest prefix counts.
    package init(_ numbers: RateLimitSettings = RateLimitSettings(), networks: [Network] = []) {
        self.numbers = numbers
        self.networks = networks.sorted { $0.network.length > $1.network.length }
    }

    /// The kinds that have numbers here.
    package static let kinds = RateLimitKind.ofProjects.filter(\.spansProjects)

    /// - Parameter address: the caller's; nil if it is unknown.
    package func budget(of kind: RateLimitKind, for address: String?) -> RateLimitBudget {
        guard kind.countsAddresses, !networks.isEmpty, let address = address.flatMap({ IPAddress($0) })?.unmapped,
            let network = networks.first(where: { $0.network.contains(address) && $0.budgets[kind] != nil })
        else { return numbers[kind] }
        return network.budgets[kind] ?? numbers[kind]
    }

    /// The widest budget of a kind for any caller, if a project's own would not narrow it; nil if that would.
    package func covers(_ own: RateLimitBudget, of kind: RateLimitKind) -> RateLimitBudget? {
        guard kind.spansProjects else { return nil }
        let all = [numbers[kind]] + networks.compactMap { $0.budgets[kind] }
        return all.contains { !own.contains($0) } ? nil : all.max { $0.count < $1.count }
    }
}

extension DeploymentLimits.Network {
    /// `203.0.113.0/24 smsPerAddress=500/3600 signUpsPerAddress=2000`; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard let first = parts.first, let network = IPNetwork(first), parts.count > 1 else { return nil }
        var budgets: [RateLimitKind: RateLimitBudget] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, let kind = RateLimitKind(rawValue: String(pair[0])), kind.countsAddresses,
                DeploymentLimits.kinds.contains(kind),
                let budget = RateLimitBudget(String(pair[1]), standard: kind.standard),
                budgets.updateValue(budget, forKey: kind) == nil
            else { return nil }
        }
        self.init(network: network, budgets: budgets)
    }
}

extension RateLimitBudget {
    /// `500/3600`, or the count alone, in the usual time; nil for anything else.
    package init?(_ text: String, standard: RateLimitBudget) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let count = Int(parts[0]), Self.counts.contains(count),
            let seconds = parts.count == 2 ? Int(parts[1]) : standard.seconds, Self.durations.contains(seconds)
        else { return nil }
        self.init(count: count, seconds: seconds)
    }

    /// Whether it never refuses what the other one lets pass: as much at once, and as much again in time.
    func contains(_ other: RateLimitBudget) -> Bool {
        count >= other.count && count * other.seconds >= other.count * seconds
    }
}
