import Domain
import Foundation
import IdentityService
import Passwords
import Projects
import Secrets
import Text

extension JSONWriter {
    /// A user in the format of `firebase auth:export`.
    ///
    /// - Parameter isPortable: only with the providers and second factors that `firebase auth:import` accepts.
    mutating func exported(_ account: Account, _ password: PasswordHash?, isPortable: Bool) {
        member("localId", account.id.rawValue)
        member("email", account.email?.original)
        if account.email != nil { member("emailVerified", account.emailVerified) }
        if let password {
            member("passwordHash", Data(password.hash).base64EncodedString())
            member("salt", Data(password.salt).base64EncodedString())
        }
        profile(account.profile, Profile.fields.filter { $0.places.contains(.firebaseFile) })
        member("lastSignedInAt", int64: account.lastSignInAt?.milliseconds)
        member("createdAt", int64: account.createdAt.milliseconds)
        member("phoneNumber", account.phoneNumber)
        member("disabled", account.disabled)
        member("customAttributes", account.customAttributes)
        array("providerUserInfo") { json in
            for credential in account.linked {
                let provider = credential.provider.rawValue
                guard !isPortable || credential.isPortable else { continue }
                json.object { json in
                    json.member("providerId", provider)
                    json.member("rawId", credential.subject)
                    json.member("email", credential.email)
                    let fields = Profile.ofIdentities.filter { !isPortable || $0.places.contains(.firebaseFile) }
                    json.profile(credential.profile, fields)
                }
            }
        }
        if isPortable { exported(account.portableFactors, secrets: [:]) }
    }

    /// The members that Firebase's file does not have.
    ///
    /// - Parameter secrets: of authenticator apps, by enrollment ID.
    mutating func exportedBeyond(_ account: Account, secrets: [String: [UInt8]]) {
        member("initialEmail", account.initialEmail)
        member("emailLinkSignin", ifTrue: account.emailLinkSignIn)
        member("customAuth", ifTrue: account.customAuth)
        profile(account.profile, Profile.ofAccounts.filter { !$0.places.contains(.firebaseFile) })
        member("validSince", int64: account.validSince > 0 ? account.validSince : nil)
        member("lastRefreshAt", account.lastRefreshAt?.wireText)
        member("passwordUpdatedAt", number: account.passwordUpdatedAt?.milliseconds)
        exported(account.secondFactors, secrets: secrets)
        passkeys(of: account, inFull: true)
    }

    private mutating func exported(_ factors: [SecondFactor], secrets: [String: [UInt8]]) {
        guard !factors.isEmpty else { return }
        array("mfaInfo") { json in
            for factor in factors {
                json.object { json in
                    json.member("mfaEnrollmentId", factor.id)
                    json.member("displayName", factor.displayName)
                    json.member("enrolledAt", factor.enrolledAt.wireText)
                    json.member("phoneInfo", factor.phoneNumber)
                    guard let secret = secrets[factor.id] else { return }
                    json.object("totpInfo") { $0.member("sharedSecretKey", Base32.encode(secret)) }
                }
            }
        }
    }
}

extension LinkedCredential {
    /// Whether `firebase auth:import` accepts the provider.
    fileprivate var isPortable: Bool { CSVUserReader.providers.contains { $0.1 == provider.rawValue } }
}

extension Account {
    /// The second factors that `firebase auth:import` accepts: phones of an account with a verified email.
    fileprivate var portableFactors: [SecondFactor] {
        email != nil && emailVerified ? secondFactors.filter { !$0.isTOTP } : []
    }

    /// Whether the account has sign-in methods or second factors that Firebase's file cannot have.
    func isReduced(in format: UserFileFormat) -> Bool {
        let factors = format == .csv ? [] : portableFactors
        return !passkeys.isEmpty || factors.count < secondFactors.count || !linked.allSatisfy(\.isPortable)
    }
}

/// A user as a line of the CSV of `firebase auth:export`, which contains fewer members.
struct CSVUserRow {
    let text: String

    init(_ account: Account, _ password: PasswordHash?) {
        var fields = Array(repeating: "", count: CSVUserReader.columns)
        fields[0] = account.id.rawValue
        fields[1] = account.email?.original ?? ""
        fields[2] = account.emailVerified ? "true" : "false"
        fields[3] = Data(password?.hash ?? []).base64EncodedString()
        fields[4] = Data(password?.salt ?? []).base64EncodedString()
        fields[5] = account.displayName ?? ""
        fields[6] = account.photoURL ?? ""
        for (start, provider) in CSVUserReader.providers {
            guard let credential = account.linked.first(where: { $0.provider.rawValue == provider }) else { continue }
            fields[start] = credential.subject
            fields[start + 1] = credential.email ?? ""
            fields[start + 2] = credential.displayName ?? ""
            fields[start + 3] = credential.photoURL ?? ""
        }
        fields[23] = String(account.createdAt.milliseconds)
        fields[24] = account.lastSignInAt.map { String($0.milliseconds) } ?? ""
        fields[25] = account.phoneNumber ?? ""
        fields[26] = account.disabled.map { String($0) } ?? ""
        fields[27] = account.customAttributes ?? ""
        // The quotes around the ID say that RFC 4180 holds in this file.
        text =
            "\"\(fields[0].escaped(.csv))\"," + fields.dropFirst().map { Self.quoted($0) }.joined(separator: ",") + ","
    }

    /// RFC 4180.
    private static func quoted(_ field: String) -> String {
        guard field.utf8.contains(where: { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }) else { return field }
        return "\"" + field.escaped(.csv) + "\""
    }
}
