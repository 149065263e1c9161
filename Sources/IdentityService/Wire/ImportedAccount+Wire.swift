package import Accounts
import Domain
import Foundation
import Sessions

extension ImportAccounts.Entry {
    /// Reads a user in the format of downloads and uploads; the caller reads the password, because hashes have many
    /// formats.
    ///
    /// - Throws: a ``WireError`` that names the member with the wrong type.
    package init(_ user: WireObject) throws(WireError) {
        self.init()
        localID = try user.string("localId")
        tenantID = try user.string("tenantId")
        email = try user.string("email").flatMap { $0.isEmpty ? nil : $0 }
        emailVerified = try user.bool("emailVerified", readsText: true) ?? false
        initialEmail = try user.string("initialEmail")
        emailLinkSignIn = try user.bool("emailLinkSignin", readsText: true) ?? false
        profile = try user.profile(Profile.ofAccounts)
        phoneNumber = try user.string("phoneNumber").flatMap { $0.isEmpty ? nil : $0 }
        disabled = try user.bool("disabled", readsText: true)
        customAuth = try user.bool("customAuth", readsText: true) ?? false
        customAttributes = try user.string("customAttributes")
        validSince = try user.seconds("validSince")
        createdAt = try user.accountTime("createdAt")
        lastSignInAt = try user.accountTime("lastLoginAt")
        lastRefreshAt = try user.timestamp("lastRefreshAt")
        passwordUpdatedAt = try user.accountTime("passwordUpdatedAt")
        for provider in try user.objects("providerUserInfo") {
            let id = ProviderID(try provider.string("providerId") ?? "")
            // These two follow from the account's own members.
            guard id != .password, id != .phone else { continue }
            let federatedID = try provider.string("federatedId")
            linked.append(
                LinkedCredential(
                    provider: id,
                    subject: try provider.string("rawId") ?? federatedID ?? "",
                    email: try provider.string("email"),
                    profile: try provider.profile(Profile.ofIdentities)
                )
            )
        }
        for enrollment in try user.objects("mfaInfo") {
            var factor = AdminSecondFactor()
            factor.id = try enrollment.string("mfaEnrollmentId")
            factor.displayName = try enrollment.string("displayName")
            factor.phoneNumber = try enrollment.string("phoneInfo")
            factor.enrolledAt = try enrollment.timestamp("enrolledAt")
            let (app, email) = (try enrollment.has("totpInfo"), try enrollment.has("emailInfo"))
            factor.needsSecret = app || email
            secondFactors.append(factor)
        }
        for entry in try user.objects("passkeyInfo") { passkeys.append(try Passkey(entry)) }
    }
}

extension WireObject {
    /// The members of a profile.
    func profile(_ fields: [Profile.Field]) throws(WireError) -> Profile {
        var profile = Profile()
        for field in fields { profile[field] = try string(field.wireName) }
        return profile
    }
}
