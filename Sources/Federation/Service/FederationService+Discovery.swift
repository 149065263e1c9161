import Foundation
import HTTPTypes
import Logging
import Outbound
import Projects
import StrictJSON
import Text

extension FederationService {
    /// The definition of a configuration, with discovery if it uses any.
    ///
    /// - Throws: ``FederationError/providerDisabled``, ``FederationError/misconfigured(_:)``,
    ///   ``FederationError/issuerUnreachable``, ``FederationError/overloaded``.
    func resolve(
        _ configuration: ProviderConfiguration,
        choosing variables: [String: String] = [:]
    ) async throws(FederationError) -> ResolvedProvider {
        guard configuration.enabled else { throw .providerDisabled }
        let definition = try definition(of: configuration, choosing: variables)
        guard definition.discovery != .never, let issuer = definition.issuers.first else {
            return ResolvedProvider(definition: definition, discovery: nil, client: configuration)
        }
        do throws(FederationError) {
            let discovery = try await discover(definition, issuer: issuer)
            return ResolvedProvider(definition: definition, discovery: discovery, client: configuration)
        } catch
            where [.issuerUnreachable, .overloaded].contains(error) && definition.discovery == .cached
            && definition.fallbackEndpoints.keys != nil
        {
            Logger.current.warning(
                "Discovery is unreachable; built-in endpoints are used",
                metadata: ["provider.id": "\(configuration.provider)"]
            )
            return ResolvedProvider(definition: definition, discovery: nil, client: configuration)
        }
    }

    func definition(
        of configuration: ProviderConfiguration,
        choosing variables: [String: String] = [:]
    ) throws(FederationError) -> ProviderDefinition {
        do throws(InvalidDefinition) {
            return try definitions.definition(for: configuration, choosing: variables)
        } catch {
            throw .misconfigured(error)
        }
    }

    static func discoveryURL(of definition: ProviderDefinition, _ issuer: String) -> String {
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        return definition.discoveryURL ?? base + "/.well-known/openid-configuration"
    }

    /// The checked discovery document of an issuer.
    func discover(
        _ definition: ProviderDefinition,
        issuer: String
    ) async throws(FederationError) -> DiscoveryDocument {
        let url = Self.discoveryURL(of: definition, issuer)
        let document = try await documents.value(
            for: url,
            rememberingFailure: definition.fallbackEndpoints.keys != nil
        ) { () async throws(FederationError) in
            let response = try await self.fetchDocument(url, of: definition)
            guard let object = (try? JSONValue(sent: response.body))?.object,
                let document = LoadedDiscovery(object, allowsLoopback: self.allowsLoopback)
            else {
                throw FederationError.issuerUnreachable
            }
            // Which issuer each configuration expects is checked below: others may share the document.
            guard object["issuer"]?.string != nil else {
                throw FederationError.misconfigured(DiscoveryDocument.otherIssuer)
            }
            return FetchCache<LoadedDiscovery>.Loaded(
                value: document,
                lifetime: CacheControl.lifetime(response.headers)
            )
        }
        do throws(InvalidDefinition) {
            return try document.checked(for: definition, issuer: issuer)
        } catch {
            throw .misconfigured(error)
        }
    }

    /// The keys that may have signed a token: those of the definition, or the provider's, which are reloaded, at most
    /// once per interval, if none of them fits.
    ///
    /// - Parameter tried: keys that did not verify the token, so more are needed.
    func keys(
        of provider: ResolvedProvider,
        for token: CompactJWT,
        _ algorithm: SignatureAlgorithm,
        otherThan tried: [ProviderKey] = []
    ) async throws(FederationError) -> [ProviderKey] {
        if let jwks = provider.definition.jwks {
            let set = try await configuredKeys(jwks, provider.kind)
            return set.candidates(id: token.keyID, algorithm: algorithm)
        }
        let url = try provider.required(\.keys, "keys")
        let format = provider.definition.idToken.keyFormat
        let set = try await keySets(of: provider.kind).value(
            for: Self.place(of: url, format),
            isEnough: { set in
                let candidates = set.candidates(id: token.keyID, algorithm: algorithm)
                return !candidates.isEmpty && candidates != tried
            },
            rememberingFailure: provider.kind.isApplication
        ) { () async throws(FederationError) in
            let response = try await self.fetchDocument(url, of: provider.definition, provider.kind)
            guard let document = try? JSONValue(sent: response.body), provider.kind.mayHave(document),
                let set = ProviderKeySet(document, format)
            else {
                throw FederationError.issuerUnreachable
            }
            return FetchCache<ProviderKeySet>.Loaded(value: set, lifetime: CacheControl.lifetime(response.headers))
        }
        return set.candidates(id: token.keyID, algorithm: algorithm)
    }

    /// Each kind of application is in a cache of its own: what one kind may not read says nothing about the other.
    private func keySets(of kind: ResolvedProvider.Kind) -> FetchCache<ProviderKeySet> {
        switch kind {
        case .provider: keySets
        case .application(isVouchedFor: true): clients.current.keySetsOfAdmins
        case .application(isVouchedFor: false): clients.current.keySetsOfStrangers
        }
    }

    private static func place(of url: String, _ format: ProviderDefinition.IDTokenRules.KeyFormat) -> String {
        format.rawValue + " " + url
    }

    /// An application's keys are few, and parsed each time: they take no place from what has to be fetched.
    private func configuredKeys(
        _ jwks: String,
        _ kind: ResolvedProvider.Kind
    ) async throws(FederationError) -> ProviderKeySet {
        let parse = { @Sendable () throws(FederationError) -> ProviderKeySet in
            guard let document = try? JSONValue(sent: jwks.utf8), let set = ProviderKeySet(document) else {
                throw .issuerUnreachable
            }
            return set
        }
        guard !kind.isApplication else { return try parse() }
        return try await keySets.value(for: jwks) { () async throws(FederationError) in
            FetchCache<ProviderKeySet>.Loaded(value: try parse(), lifetime: nil)
        }
    }

    /// Whether verifying a client's token would fetch its keys now: they are not known, or none of them made it.
    package func wouldFetchKeys(of token: ClientJWT, at url: String, isVouchedFor: Bool) -> Bool {
        guard let algorithm = SignatureAlgorithm(name: token.token.algorithm) else { return false }
        return keySets(of: .application(isVouchedFor: isVouchedFor)).wouldLoad(Self.place(of: url, .jwks)) { set in
            set.candidates(id: token.token.keyID, algorithm: algorithm).contains {
                $0.verifies(token.token.signature, over: token.token.signedBytes, by: algorithm)
            }
        }
    }

    private func fetchDocument(
        _ url: String,
        of definition: ProviderDefinition,
        _ kind: ResolvedProvider.Kind = .provider
    ) async throws(FederationError) -> OutboundResponse {
        var request = OutboundRequest(
            url: url,
            headers: [.accept: "application/json"],
            maximumResponseSize: 512 * 1024
        )
        if case .application(let isVouchedFor) = kind {
            request.maximumResponseSize = 16_384
            request.timeLimit = .seconds(5)
            request.isForStranger = !isVouchedFor
        }
        do throws(OutboundError) {
            let response = try await measured(request, of: definition)
            guard response.status == 200 else {
                logUnreachable(url, "status \(response.status)")
                throw OutboundError.unreachable
            }
            return response
        } catch {
            logUnreachable(url, "\(error)")
            throw .issuerUnreachable
        }
    }

    private func logUnreachable(_ url: String, _ reason: String) {
        Logger.current.warning(
            "A provider's document cannot be read",
            metadata: ["error.type": "\(reason)", "server.address": "\(URLParts(url)?.host ?? "")"]
        )
    }
}

extension ResolvedProvider.Kind {
    fileprivate var isApplication: Bool { if case .application = self { true } else { false } }

    /// An application has ten keys at most, as in its metadata.
    fileprivate func mayHave(_ keys: JSONValue) -> Bool {
        !isApplication || keys.object?["keys"]?.array?.count ?? 0 <= 10
    }
}

extension FederationService {
    /// The small JSON document at a URL that a stranger named, read once a minute whoever asks.
    ///
    /// - Throws: ``FederationError/issuerUnreachable`` if the node is too busy to ask, or the caller has left.
    package func clientDocument(at url: String, atMost size: Int) async throws(FederationError) -> ClientAnswer {
        try await clients.current.documents.value(for: url) { () async throws(FederationError) in
            FetchCache.Loaded(value: try await self.readClientDocument(url, size), lifetime: nil)
        }
    }

    private func readClientDocument(_ url: String, _ size: Int) async throws(FederationError) -> ClientAnswer {
        var request = Self.request(url, atMost: size, accepting: "application/json")
        request.isForStranger = true
        do throws(OutboundError) {
            let response = try await http.send(request)
            switch response.status {
            case 200 where response.mayBeJSON: return .found(response.body)
            case 404, 410: return .gone
            default: return .unreachable
            }
        } catch {
            switch error {
            case .unreachable, .timedOut, .invalidURL, .refusedAddress, .tooLarge, .malformedResponse:
                return .unreachable
            case .busy, .cancelled: throw .issuerUnreachable
            }
        }
    }

    /// A small file that an admin named, read once; nil for anything but a success.
    package func file(at url: String, atMost size: Int) async throws -> [UInt8]? {
        let response = try? await http.send(Self.request(url, atMost: size, accepting: "text/plain"))
        return response?.status == 200 ? response?.body : nil
    }

    private static func request(_ url: String, atMost size: Int, accepting type: String) -> OutboundRequest {
        OutboundRequest(url: url, headers: [.accept: type], maximumResponseSize: size, timeLimit: .seconds(5))
    }
}
