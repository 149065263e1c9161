/// What refusals say, in full.
enum Messages {
    static let usedFlow =
        "INVALID_IDP_RESPONSE : The sign-in request is unknown, expired, already used, or not this client's."
    static let usedCode = "INVALID_IDP_RESPONSE : invalid_grant"
    static let providerDown = "INVALID_IDP_RESPONSE : provider unavailable"
    static let invalidAnswer = "INVALID_IDP_RESPONSE : The provider's response is not valid."
    static let clientRejected = "INVALID_CONFIG : The provider rejected the client credentials."
    static let otherRedirect = "INVALID_IDP_RESPONSE : The redirect URI does not match."
    static let otherIssuer = "INVALID_IDP_RESPONSE : The issuer of the response does not match."
    static let unparsable = "INVALID_IDP_RESPONSE : Unable to parse the ID Token."
    static let badSignature = "INVALID_IDP_RESPONSE : Unable to verify the ID Token signature."
    static let badHash = "INVALID_IDP_RESPONSE : The hash in ID Token does not match."
    static let accessTokenRejected = "INVALID_IDP_RESPONSE : The provider rejected the access token."
    static let foreignAccessToken = "INVALID_IDP_RESPONSE : The access token was issued to another client."
    static let noNonce = "MISSING_OR_INVALID_NONCE : Nonce is missing in the request."
    static let otherNonce =
        "MISSING_OR_INVALID_NONCE : The nonce in ID Token does not match the SHA256 hash of the raw nonce in the request."
    static let duplicate =
        "MISSING_OR_INVALID_NONCE : Duplicate credential received. Please try again with a new credential."
    static let providerOff = "OPERATION_NOT_ALLOWED : The identity provider configuration is disabled."
    static let noProvider = "OPERATION_NOT_ALLOWED : The identity provider configuration is not found."
    static let unsupportedProvider = "INVALID_PROVIDER_ID : Provider Id is not supported."
}
