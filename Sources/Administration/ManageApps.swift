package import Projects
import Secrets
import Storage

/// The mobile apps that results of sign-ins may be sent to.
package struct ManageApps: Sendable {
    let configuration: ConfigurationStore
    let random: RandomSource

    private static let limit = 200

    /// - Throws: ``AdministrationError/invalid(_:)``; ``Storage/ConfigurationError/alreadyExists``.
    package func register(
        _ identifier: String,
        on platform: AppRegistration.Platform,
        scheme: String?,
        teamID: String? = nil,
        certificates: [String] = [],
        in project: ProjectID
    ) async throws -> AppRegistration {
        let app = AppRegistration(
            id: random.text(20, of: "abcdefghijklmnopqrstuvwxyz0123456789"),
            platform: platform,
            identifier: identifier,
            scheme: scheme,
            teamID: teamID,
            certificates: certificates
        )
        guard let app else {
            throw AdministrationError.invalid(
                "\(platform.identifierName) must be a name with dots; scheme, for IOS only, must contain a dot or a hyphen; "
                    + "teamId, for IOS only, has ten letters and digits; sha256Hashes, for ANDROID only, are at most ten."
            )
        }
        _ = try await configuration.updateSettings(of: project) { settings in
            let isKnown = settings.apps.contains { known in
                (known.platform, known.identifier, known.scheme) == (app.platform, app.identifier, app.scheme)
            }
            guard !isKnown else { throw ConfigurationError.alreadyExists }
            guard settings.apps.count < Self.limit else {
                throw AdministrationError.invalid("A project can have at most \(Self.limit) apps.")
            }
            settings.apps.append(app)
            return ["apps"]
        }
        return app
    }

    /// - Throws: ``Storage/ConfigurationError/notFound``.
    package func remove(_ id: String, from project: ProjectID) async throws {
        _ = try await configuration.updateSettings(of: project) { settings in
            let rest = settings.apps.filter { $0.id != id }
            guard rest.count < settings.apps.count else { throw ConfigurationError.notFound }
            settings.apps = rest
            return ["apps"]
        }
    }
}

extension AppRegistration.Platform {
    /// The name of an app's identifier in the API.
    package var identifierName: String {
        switch self {
        case .ios: "bundleId"
        case .android: "packageName"
        }
    }
}
