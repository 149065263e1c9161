/// The faults that a test has set up, each for a call of one endpoint.
struct FaultPlan {
    private struct Armed {
        var endpoint: ProviderEndpoint
        /// The number of the call, 1 for the next one; nil for every call.
        var call: Int?
        var seen = 0
        var uses = 0
        var fault: ProviderFault
    }

    private var armed: [Armed] = []

    mutating func add(_ fault: ProviderFault, at endpoint: ProviderEndpoint, call: Int?) {
        armed.append(Armed(endpoint: endpoint, call: call, fault: fault))
    }

    mutating func removeAll(at endpoint: ProviderEndpoint?) {
        armed.removeAll { endpoint == nil || $0.endpoint == endpoint }
    }

    /// Counts a call and returns its faults.
    mutating func take(_ endpoint: ProviderEndpoint) -> [ProviderFault] {
        var faults: [ProviderFault] = []
        for index in armed.indices where armed[index].endpoint == endpoint {
            armed[index].seen += 1
            guard armed[index].call == nil || armed[index].call == armed[index].seen else { continue }
            armed[index].uses += 1
            faults.append(armed[index].fault)
        }
        return faults
    }

    /// Faults that no call has triggered.
    var unused: [String] {
        armed.filter { $0.uses == 0 }
            .map { "\($0.endpoint.rawValue), \($0.call.map { "call \($0)" } ?? "every call"): \($0.fault)" }
    }

    var gates: [TestGate] {
        armed.compactMap { armed in
            switch armed.fault {
            case .held(let gate), .heldInBody(let gate): gate
            default: nil
            }
        }
    }
}
