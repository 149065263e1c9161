import Projects

extension SettingsMember {
    /// Firebase's `blockingFunctions`.
    static let blockingFunctions: [SettingsMember] =
        BlockingFunctions.Event.allCases.map { event in
            let path = "blockingFunctions.triggers.\(event.rawValue).functionUri"
            return SettingsMember(path: path) { object, name, settings in
                let url = try object.string(name).flatMap { $0.isEmpty ? nil : $0 }
                guard url.map(DeliverySettings.isAcceptable(url:)) ?? true else {
                    throw WireError("INVALID_CONFIG", "\(path) must be an https URL, or a URL of this machine.")
                }
                settings.blockingFunctions[event] = url
            }
        } + [
            forwarding("idToken", \.forwardsIDToken), forwarding("accessToken", \.forwardsAccessToken),
            forwarding("refreshToken", \.forwardsRefreshToken),
        ]

    private static func forwarding(
        _ name: String,
        _ value: any WritableKeyPath<BlockingFunctions, Bool> & Sendable
    ) -> SettingsMember {
        SettingsMember(path: "blockingFunctions.forwardInboundCredentials.\(name)") { object, name, settings in
            settings.blockingFunctions[keyPath: value] = try object.bool(name) ?? false
        }
    }
}

extension JSONWriter {
    mutating func blockingFunctions(_ functions: BlockingFunctions) {
        object("blockingFunctions") { json in
            json.object("triggers") { json in
                for event in BlockingFunctions.Event.allCases {
                    guard let url = functions[event] else { continue }
                    json.object(event.rawValue) { $0.member("functionUri", url) }
                }
            }
            json.object("forwardInboundCredentials") { json in
                json.member("idToken", ifTrue: functions.forwardsIDToken)
                json.member("accessToken", ifTrue: functions.forwardsAccessToken)
                json.member("refreshToken", ifTrue: functions.forwardsRefreshToken)
            }
        }
    }
}
