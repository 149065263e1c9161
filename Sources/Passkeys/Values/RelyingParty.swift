import Secrets

/// Whose passkeys are verified: a domain, and the origins of its pages and apps.
package struct RelyingParty: Sendable, Equatable {
    /// A domain, `example.com`: its passkeys can be used on it and on its subdomains.
    package let id: String
    /// Origins exactly as clients write them: `https://app.example.com`, `android:apk-key-hash:…`.
    package let origins: [String]
    /// Origins of other sites' pages that may contain one of ours as a frame; empty allows no frame.
    package let topOrigins: [String]
    let idHash: [UInt8]

    package init(id: String, origins: [String], topOrigins: [String] = []) {
        self.id = id
        self.origins = origins
        self.topOrigins = topOrigins
        self.idHash = SecureHash.sha256(id)
    }

    /// Whether pages and apps of this origin may use the passkeys.
    ///
    /// `http://localhost` without a port stands for every port of the user's machine, because development servers pick
    /// theirs; no other site can have this origin.
    package func accepts(_ origin: String) -> Bool {
        Self.contains(origin, in: origins)
            || origins.contains("http://localhost") && origin.wholeMatch(of: /http:\/\/localhost:[0-9]{1,5}/) != nil
    }

    /// Whether browsers let pages of this origin ask for the passkeys: the RP ID is the page's domain or a parent of it.
    ///
    /// - Parameter origin: `https://id.example.com`.
    package func accepts(pagesAt origin: String) -> Bool {
        guard accepts(origin), let match = origin.wholeMatch(of: /https?:\/\/([^\/:]+)(:[0-9]+)?/) else { return false }
        return match.1 == id || match.1.hasSuffix("." + id)
    }

    /// The checks of the client data, which both ceremonies share (WebAuthn §7.1 steps 7–11, §7.2 steps 10–14).
    func verify(_ clientData: ClientData, type: String, challenge: Challenge) throws(PasskeyError) {
        // §7.1 step 7, §7.2 step 10
        guard clientData.type == type else { throw .wrongType }
        // §7.1 step 8, §7.2 step 11
        guard ConstantTime.equal(clientData.challenge, challenge.bytes) else { throw .wrongChallenge }
        // §7.1 step 9, §7.2 step 12
        guard accepts(clientData.origin) else { throw .wrongOrigin }
        // §7.1 step 10, §7.2 step 13; older browsers do not name the page around the frame.
        guard !clientData.isCrossOrigin || !topOrigins.isEmpty else { throw .crossOrigin }
        // §7.1 step 11, §7.2 step 14
        if let topOrigin = clientData.topOrigin {
            guard Self.contains(topOrigin, in: topOrigins) else { throw .wrongTopOrigin }
        }
    }

    /// Compares bytes: texts that Unicode treats as equivalent are different origins.
    private static func contains(_ origin: String, in origins: [String]) -> Bool {
        origins.contains { $0.utf8.elementsEqual(origin.utf8) }
    }
}
