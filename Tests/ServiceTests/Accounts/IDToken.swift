import Foundation
import JWTKit

/// An ID token of a project, once `JWTKeyCollection.verify(_:as:)` gave it out.
struct IDToken: JWTPayload {
    struct Firebase: Codable {
        var tenant: String?
        var sid: String
    }

    static let project = "my-project"
    /// Firebase's, and the project's own; leave out the one that it does not use.
    static let issuers = ["https://securetoken.google.com/my-project", "https://auth.example.com/my-project"]

    var iss: IssuerClaim
    var aud: AudienceClaim
    var sub: SubjectClaim
    var exp: ExpirationClaim
    var iat: IssuedAtClaim
    var auth_time: Date
    var firebase: Firebase

    func verify(using algorithm: some JWTAlgorithm) throws {
        let now = Date()
        try aud.verifyIntendedAudience(includes: Self.project)
        try exp.verifyNotExpired(currentDate: now.addingTimeInterval(-60))
        guard ["RS256", "ES256"].contains(algorithm.name), Self.issuers.contains(iss.value), aud.value.count == 1,
            !sub.value.isEmpty, iat.value <= now.addingTimeInterval(60), auth_time <= now.addingTimeInterval(60),
            firebase.tenant == nil
        else { throw JWTError.claimVerificationFailure(failedClaim: iss, reason: "not a token of this project") }
    }
}

func verifiedIDToken(_ token: String, keys: JWKS) async throws -> IDToken {
    let collection = JWTKeyCollection()
    // None stands in for a key that is not there.
    for key in keys.keys { try await collection.add(jwk: key, isDefault: false) }
    return try await collection.verify(token, as: IDToken.self)
}
