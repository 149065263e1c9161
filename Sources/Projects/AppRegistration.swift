import Text

/// A mobile app of the project that results of sign-ins may be sent to, and that links in emails may open.
package struct AppRegistration: Sendable, Hashable, Codable {
    package enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
        case ios = "IOS"
        case android = "ANDROID"
    }

    /// Created by the service.
    package var id: String
    package var platform: Platform
    /// The bundle ID (iOS) or the package name (Android).
    package var identifier: String
    /// The custom scheme with which iOS opens the app, in lowercase: the reversed OAuth client ID, or `app-` and the
    /// app ID; nil for an app that only has its bundle ID.
    package var scheme: String?
    /// Apple's ID of the iOS app's developer; without it no link opens the app.
    package var teamID: String?
    /// The SHA-256 of the certificates that sign the Android app, in lowercase hexadecimal; without one no link opens it.
    package var certificates: [String]?

    /// Nil for an invalid identifier or scheme, and for members of the other platform.
    package init?(
        id: String,
        platform: Platform,
        identifier: String,
        scheme: String?,
        teamID: String? = nil,
        certificates: [String] = []
    ) {
        let hashes = certificates.compactMap(Self.hash)
        guard Self.isIdentifier(identifier), scheme.map(Self.isScheme) ?? true,
            teamID?.wholeMatch(of: /[A-Z0-9]{10}/) != nil || teamID == nil,
            hashes.count == certificates.count, hashes.count <= 10,
            platform == .ios ? hashes.isEmpty : scheme == nil && teamID == nil
        else { return nil }
        self.id = id
        self.platform = platform
        self.identifier = identifier
        self.scheme = scheme?.lowercased()
        self.teamID = teamID
        self.certificates = hashes.isEmpty ? nil : hashes
    }

    /// A SHA-256 as Android's tools write it, `AB:CD:…`, or as hexadecimal alone; nil for anything else.
    private static func hash(_ text: String) -> String? {
        let digits = text.replacing(":", with: "").lowercased()
        return digits.wholeMatch(of: /[0-9a-f]{64}/) != nil && [64, 95].contains(text.utf8.count) ? digits : nil
    }

    /// Names with dots: browsers do not handle a scheme of this form themselves.
    package static func isIdentifier(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 && text.utf8.count <= 255
            && parts.allSatisfy { !$0.isEmpty && $0.consists(of: .alphanumerics + "-_") }
            && text.prefix(1).consists(of: .letters)
    }

    /// RFC 3986 §3.1, with a dot or a hyphen, which SDKs' schemes have and browsers' schemes do not.
    package static func isScheme(_ text: String) -> Bool {
        URLParts.isScheme(text[...]) && text.utf8.count <= 255 && text.contains { $0 == "-" || $0 == "." }
    }
}

extension ProjectSettings {
    /// Whether an iOS app may be opened with a scheme: its own, or its bundle ID.
    package func allowsReturn(toBundle bundleID: String, scheme: String) -> Bool {
        apps.contains { app in
            app.platform == .ios && app.identifier == bundleID
                && [app.scheme, bundleID.lowercased()].contains(scheme.lowercased())
        }
    }

    package func allowsReturn(toPackage name: String) -> Bool { has(.android, name) }

    package func has(_ platform: AppRegistration.Platform, _ identifier: String) -> Bool {
        apps.contains { $0.platform == platform && $0.identifier == identifier }
    }
}
