/// What the audit log says that happened; the names are those of the API.
package enum AuditAction: String, Sendable, CaseIterable {
    case signedIn = "SIGNED_IN"
    /// A sign-in met an account that has its address: it may be resumed.
    case conflictFound = "CONFLICT_FOUND"
    case sessionRevoked = "SESSION_REVOKED"
    /// An admin got the link of a mail, by which they can be whom it is for.
    case linkIssued = "LINK_ISSUED"
    case sessionCookieCreated = "SESSION_COOKIE_CREATED"
    /// A pending credential was shown that was made for another identity, or is in another's place.
    case pendingCredentialRefused = "PENDING_CREDENTIAL_REFUSED"

    case accountCreated = "ACCOUNT_CREATED"
    case accountImported = "ACCOUNT_IMPORTED"
    case accountUpdated = "ACCOUNT_UPDATED"
    /// Its address was proved for the first time by somebody who had not signed in to it: what was there before is gone.
    case accountTakenOver = "ACCOUNT_TAKEN_OVER"
    case accountDeleted = "ACCOUNT_DELETED"
    /// An admin read accounts with their password hashes.
    case accountsExported = "ACCOUNTS_EXPORTED"
    case accountMerged = "ACCOUNT_MERGED"
    case mergeUndone = "MERGE_UNDONE"

    case credentialLinked = "CREDENTIAL_LINKED"
    case credentialUnlinked = "CREDENTIAL_UNLINKED"
    /// The grant at the provider ended.
    case consentWithdrawn = "CONSENT_WITHDRAWN"
    case credentialBlocked = "CREDENTIAL_BLOCKED"
    case credentialUnblocked = "CREDENTIAL_UNBLOCKED"
    /// An admin got the provider's access token.
    case providerTokenRead = "PROVIDER_TOKEN_READ"
    /// Whether the provider's relay address passes mail on.
    case relayChanged = "RELAY_CHANGED"

    case projectCreated = "PROJECT_CREATED"
    case projectDeleted = "PROJECT_DELETED"
    case settingsChanged = "SETTINGS_CHANGED"
    case providerCreated = "PROVIDER_CREATED"
    case providerChanged = "PROVIDER_CHANGED"
    case providerDeleted = "PROVIDER_DELETED"
    case tenantCreated = "TENANT_CREATED"
    case tenantChanged = "TENANT_CHANGED"
    case tenantDeleted = "TENANT_DELETED"
    case apiKeyCreated = "API_KEY_CREATED"
    case apiKeyRevoked = "API_KEY_REVOKED"
    /// A person may sign in to the console, once they are set up.
    case adminCreated = "ADMIN_CREATED"
    /// They have chosen a password and an app.
    case adminSetUp = "ADMIN_SET_UP"
    case adminReset = "ADMIN_RESET"
    case adminRevoked = "ADMIN_REVOKED"
    case adminSignedIn = "ADMIN_SIGNED_IN"
    case adminKeyCreated = "ADMIN_KEY_CREATED"
    case adminKeyRevoked = "ADMIN_KEY_REVOKED"
    case serviceAccountCreated = "SERVICE_ACCOUNT_CREATED"
    case serviceAccountRevoked = "SERVICE_ACCOUNT_REVOKED"
    case signingKeyCreated = "SIGNING_KEY_CREATED"
    case signingKeyRemoved = "SIGNING_KEY_REMOVED"
}
