import HTTPTypes
import NIOCore
import Passkeys
import Projects
import Secrets
import Storage
import Text

/// Files below `/.well-known/` with which browsers and devices check that sites and apps share passkeys, and that links in
/// emails open an app.
///
/// They are about the request's own host: what they contain comes from the project, with its tenants, whose host it is, and
/// is public. A host that no project owns has no such files, whoever has it as RP ID: otherwise one project could let its
/// own sites and apps use the passkeys and passwords of another (T-D31), or get the links of its emails (T-E31).
struct WellKnownRoutes {
    let configuration: ConfigurationStore
    let deployment: Deployment

    var routes: [Route] {
        [
            file("webauthn", Self.relatedOrigins),
            file("passkey-endpoints", Self.passkeyEndpoints),
            file("assetlinks.json", Self.assetLinks),
            file("apple-app-site-association", Self.appleApps),
        ]
    }

    private func file(_ name: String, _ content: @escaping @Sendable (Content, inout JSONWriter) -> Bool) -> Route {
        Route(
            .get,
            "/.well-known/\(name)",
            on: .service,
            errors: .status,
            .open { call in
                var json = JSONWriter()
                guard content(readContent(of: call), &json) else { throw WireError.notFound }
                return Response(
                    status: .ok,
                    headers: [.contentType: JSONWriter.contentType, .cacheControl: "public, max-age=300"],
                    body: json.bytes
                )
            }
        )
    }

    /// What the files of a host are about.
    private struct Content {
        let sites: [Site]
        /// Apps that links open.
        let linked: [AppRegistration]
    }

    private func readContent(of call: Call) -> Content {
        guard let project = deployment.siteOwner(of: call.host, among: configuration.snapshot.allProjects),
            let host = URLParts("https://\(call.host ?? "")")?.host
        else { return Content(sites: [], linked: []) }
        let sites = ([project] + project.tenants.values.map(\.project))
            .filter { $0.settings.passkeys.relyingParty?.id == host }
            .map { Site(passkeys: $0.settings.passkeys, apps: project.settings.apps) }
        return Content(sites: sites, linked: project.settings.apps)
    }

    /// A project or tenant whose passkeys are bound to the host.
    private struct Site {
        let passkeys: PasskeySettings
        let apps: [AppRegistration]

        func apps(on platform: AppRegistration.Platform) -> [String] {
            apps.filter { $0.platform == platform }.map(\.identifier)
        }
    }

    // MARK: Files

    /// Other sites whose pages may use the passkeys (WebAuthn Level 3 §5.11.1).
    @Sendable private static func relatedOrigins(_ content: Content, _ json: inout JSONWriter) -> Bool {
        let origins = Set(content.sites.flatMap(\.passkeys.origins)).filter { $0.hasPrefix("https:") }
        guard !origins.isEmpty else { return false }
        json.object { $0.member("origins", strings: origins.sorted()) }
        return true
    }

    /// Where password managers lead users (W3C "A Well-Known URL for Relying Party Passkey Endpoints").
    @Sendable private static func passkeyEndpoints(_ content: Content, _ json: inout JSONWriter) -> Bool {
        guard let url = content.sites.lazy.compactMap(\.passkeys.managementURL).first else { return false }
        json.object { json in
            json.member("enroll", url)
            json.member("manage", url)
        }
        return true
    }

    /// Android's Digital Asset Links: for passkeys, the project's Android apps, signed by the certificates of its `android:`
    /// origins; for links, those that were registered with their certificates.
    @Sendable private static func assetLinks(_ content: Content, _ json: inout JSONWriter) -> Bool {
        let passkeys = content.sites.flatMap { site in
            let fingerprints = site.passkeys.androidFingerprints
            return fingerprints.isEmpty
                ? [] : site.apps(on: .android).map { (relation: "get_login_creds", package: $0, fingerprints) }
        }
        let links = content.linked.compactMap { app in
            app.certificates.map { (relation: "handle_all_urls", package: app.identifier, $0.map(fingerprint)) }
        }
        let statements = passkeys + links
        guard !statements.isEmpty else { return false }
        json.array { json in
            for (relation, package, fingerprints) in statements {
                json.object { json in
                    json.member("relation", strings: ["delegate_permission/common.\(relation)"])
                    json.object("target") { json in
                        json.member("namespace", "android_app")
                        json.member("package_name", package)
                        json.member("sha256_cert_fingerprints", strings: fingerprints)
                    }
                }
            }
        }
        return true
    }

    /// As Android's tools write a SHA-256: `AB:CD:…`.
    private static func fingerprint(_ hex: String) -> String {
        let digits = Array(hex.uppercased())
        return stride(from: 0, to: digits.count, by: 2).map { String(digits[$0...($0 + 1)]) }.joined(separator: ":")
    }

    /// Apple's associated domains: the project's iOS apps, for links those that were registered with their team.
    @Sendable private static func appleApps(_ content: Content, _ json: inout JSONWriter) -> Bool {
        let passkeys = content.sites.flatMap { site in
            site.passkeys.appleTeamID.map { team in site.apps(on: .ios).map { "\(team).\($0)" } } ?? []
        }
        let links = content.linked.compactMap { app in app.teamID.map { "\($0).\(app.identifier)" } }
        guard !passkeys.isEmpty || !links.isEmpty else { return false }
        json.object { json in
            if !passkeys.isEmpty { json.object("webcredentials") { $0.member("apps", strings: passkeys) } }
            guard !links.isEmpty else { return }
            json.object("applinks") { json in
                json.array("details") { json in
                    json.object { json in
                        json.member("appIDs", strings: Array(Set(links)).sorted())
                        json.array("components") { $0.object { $0.member("/", "\(Deployment.appLinks)*") } }
                    }
                }
            }
        }
        return true
    }
}

extension PasskeySettings {
    /// The SHA-256 of the certificates in ``origins``, as Android's tools write it: `AB:CD:…`.
    fileprivate var androidFingerprints: [String] {
        origins.compactMap { origin in
            guard origin.hasPrefix(Self.androidOrigin) else { return nil }
            return Base64URL.decode(String(origin.dropFirst(Self.androidOrigin.count)))?
                .map { [$0].lowercaseHex.uppercased() }.joined(separator: ":")
        }
    }

    private static let androidOrigin = "android:apk-key-hash:"
}
