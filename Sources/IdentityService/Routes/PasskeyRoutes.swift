import Accounts
package import Domain
import Foundation
import HTTPTypes
import Passkeys
import Secrets
import StrictJSON

/// Passkeys (`/v2/accounts/passkey…`): the whole wire form is in this file, because Firebase's is not final.
struct PasskeyRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        let (enrollment, signIn) = ("/v2/accounts/passkeyEnrollment", "/v2/accounts/passkeySignIn")
        return [
            Route(.post, "\(enrollment):start", errors: .status, .client(startEnrollment)),
            Route(.post, "\(enrollment):finalize", errors: .status, .client(finishEnrollment)),
            Route(.post, "\(signIn):start", errors: .status, .client(startSignIn)),
            Route(.post, "\(signIn):finalize", errors: .status, .client(finishSignIn)),
        ]
    }

    private func startEnrollment(_ call: ClientCall) async throws -> Response {
        let options = try await accounts.enrollPasskey.start(idToken: try call.json().text("idToken"), call.caller)
        return .json { json in json.object("credentialCreationOptions") { $0.members(of: options) } }
    }

    private func finishEnrollment(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        guard let idToken = try body.text("idToken") else { throw AccountsError.missingIDToken }
        let response = try RegistrationResponse(body.object("authenticatorRegistrationResponse"))
        let result = try await accounts.enrollPasskey.finish(
            idToken: idToken,
            name: try body.string("name") ?? body.string("displayName"),
            response,
            call.caller
        )
        return .json { json in
            json.member("localId", result.account.rawValue)
            json.tokens(result.tokens)
        }
    }

    private func startSignIn(_ call: ClientCall) async throws -> Response {
        let options = try await accounts.signInWithPasskey.start(call.caller)
        return .json { json in json.object("credentialRequestOptions") { $0.members(of: options) } }
    }

    private func finishSignIn(_ call: ClientCall) async throws -> Response {
        let response = try AssertionResponse(try call.json().object("authenticatorAuthenticationResponse"))
        let result = try await accounts.signInWithPasskey.finish(response, call.caller)
        return .json { json in
            json.member("localId", result.account.rawValue)
            json.firstFactor(result.end)
        }
    }

    /// The stored IDs of `deletePasskey[]`, which clients may write in either alphabet of base64.
    static func deletions(_ body: WireObject) throws -> [String] {
        try body.strings("deletePasskey").map { text in
            let member = WireObject([.init(name: "deletePasskey", value: .string(text))])
            guard let bytes = try? member.bytes("deletePasskey"), let id = CredentialID(bytes: bytes) else {
                throw AccountsError.passkey(.invalidCredentialID)
            }
            return id.description
        }
    }
}

// MARK: Responses of authenticators

extension RegistrationResponse {
    init(_ object: WireObject?) throws {
        let credential = try PublicKeyCredential(object)
        self.init(
            id: credential.id,
            clientData: credential.clientData,
            attestationObject: try credential.bytes("attestationObject"),
            transports: try credential.transports
        )
    }
}

extension AssertionResponse {
    init(_ object: WireObject?) throws {
        let credential = try PublicKeyCredential(object)
        // Browsers send an empty handle for none.
        let handle = try credential.response.bytes("userHandle")
        self.init(
            id: credential.id,
            clientData: credential.clientData,
            authenticatorData: try credential.bytes("authenticatorData"),
            signature: try credential.bytes("signature"),
            userHandle: handle?.isEmpty ?? true ? nil : handle
        )
    }
}

/// What both responses have: `{id, rawId, type, response{clientDataJSON, …}}`.
private struct PublicKeyCredential {
    let id: CredentialID
    let clientData: ClientData
    let response: WireObject

    init(_ object: WireObject?) throws {
        guard let object else { throw AccountsError.passkey(.missingResponse) }
        let ids = try [object.bytes("id"), object.bytes("rawId")].compactMap(\.self)
        guard let bytes = ids.first, ids.allSatisfy({ $0 == bytes }), let id = CredentialID(bytes: bytes) else {
            throw AccountsError.passkey(.invalidCredentialID)
        }
        guard try object.string("type") ?? "public-key" == "public-key", let response = try object.object("response"),
            let text = try response.bytes("clientDataJSON"), let clientData = try? ClientData(text)
        else { throw AccountsError.passkey(.invalidResponse) }
        (self.id, self.clientData, self.response) = (id, clientData, response)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        guard let bytes = try response.bytes(name) else { throw AccountsError.passkey(.invalidResponse) }
        return bytes
    }

    /// At most eight short names, as they are hints that only come back.
    var transports: [String] {
        get throws { try response.strings("transports").filter { $0.utf8.count <= 32 }.prefix(8).map { $0 } }
    }
}

// MARK: Options for clients

extension JSONWriter {
    mutating func members(of options: RegistrationOptions) {
        object("rp") { json in
            json.member("id", options.relyingPartyID)
            json.member("name", options.relyingPartyName)
        }
        object("user") { json in
            json.member("id", Self.base64(options.user.handle))
            json.member("name", options.user.name)
            json.member("displayName", options.user.displayName)
        }
        member("challenge", Self.base64(options.challenge.bytes))
        array("pubKeyCredParams") { json in
            for algorithm in options.algorithms {
                json.object { json in
                    json.member("type", "public-key")
                    json.member("alg", number: Int64(algorithm.rawValue))
                }
            }
        }
        member("timeout", number: options.timeout.milliseconds)
        credentials("excludeCredentials", options.excluded)
        object("authenticatorSelection") { json in
            // The passkey names the account, so the authenticator must be able to find it.
            json.member("residentKey", "required")
            json.member("requireResidentKey", true)
            json.member("userVerification", options.userVerification.rawValue)
        }
        member("attestation", options.attestation.rawValue)
    }

    mutating func members(of options: AssertionOptions) {
        member("challenge", Self.base64(options.challenge.bytes))
        member("rpId", options.relyingPartyID)
        credentials("allowCredentials", options.allowed)
        member("userVerification", options.userVerification.rawValue)
        member("timeout", number: options.timeout.milliseconds)
    }

    private mutating func credentials(_ name: String, _ credentials: [CredentialDescriptor]) {
        guard !credentials.isEmpty else { return }
        array(name) { json in
            for credential in credentials {
                json.object { json in
                    json.member("type", "public-key")
                    json.member("id", Self.base64(credential.id.bytes))
                    json.member("transports", strings: credential.transports.isEmpty ? nil : credential.transports)
                }
            }
        }
    }

    /// `passkeyInfo[]` of an account; absent if it has none.
    ///
    /// - Parameter inFull: for an import elsewhere; what authenticators sign is of no use to a client.
    package mutating func passkeys(of account: Account, inFull: Bool = false) {
        guard !account.passkeys.isEmpty else { return }
        array("passkeyInfo") { json in
            for passkey in account.passkeys {
                json.object { json in
                    json.member("credentialId", Base64URL.decode(passkey.id).map(Self.base64))
                    json.member("name", passkey.name)
                    if inFull { json.record(of: passkey) }
                }
            }
        }
    }

    /// A passkey as `mfaInfo` of the code that removes it.
    mutating func addedPasskey(_ passkey: Passkey) {
        member("mfaEnrollmentId", Base64URL.decode(passkey.id).map(Self.base64))
        member("displayName", passkey.name)
        member("enrolledAt", passkey.enrolledAt.wireText)
        // Not part of Firebase, whose Web SDK takes no code that names neither a phone nor an app.
        object("passkeyInfo") { _ in }
        object("totpInfo") { _ in }
    }

    private mutating func record(of passkey: Passkey) {
        member("userHandle", Self.base64(passkey.userHandle))
        member("publicKey", Self.base64(passkey.publicKey))
        member("signCount", number: Int64(passkey.signCount))
        member("userVerified", passkey.hasVerifiedUser)
        member("backupEligible", passkey.isBackupEligible)
        member("backedUp", passkey.isBackedUp)
        member("transports", strings: passkey.transports.isEmpty ? nil : passkey.transports)
        member("aaguid", Self.base64(passkey.aaguid))
        member("attestation", passkey.attestation)
        member("enrolledAt", passkey.enrolledAt.wireText)
        member("lastUsedAt", passkey.lastUsedAt?.wireText)
    }

    /// With padding and the standard alphabet, the only form that Firebase's iOS SDK reads.
    private static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

extension Passkey {
    /// Reads an entry of `passkeyInfo[]` in full; its values are not checked yet.
    init(_ entry: WireObject) throws(WireError) {
        self.init(
            id: Base64URL.encode(try entry.bytes("credentialId") ?? []),
            userHandle: try entry.bytes("userHandle") ?? [],
            publicKey: try entry.bytes("publicKey") ?? [],
            signCount: UInt32(clamping: try entry.int64("signCount") ?? 0),
            hasVerifiedUser: try entry.bool("userVerified") ?? false,
            isBackupEligible: try entry.bool("backupEligible") ?? false,
            isBackedUp: try entry.bool("backedUp") ?? false,
            transports: try entry.strings("transports"),
            aaguid: try entry.bytes("aaguid") ?? Array(repeating: 0, count: 16),
            attestation: try entry.string("attestation") ?? Attestation.unverified.rawValue,
            name: try entry.string("name"),
            enrolledAt: try entry.timestamp("enrolledAt") ?? Date(timeIntervalSince1970: 0),
            lastUsedAt: try entry.timestamp("lastUsedAt")
        )
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { components.seconds * 1_000 }
}
