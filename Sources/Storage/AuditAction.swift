/// The actions of the audit log; the names are those of the API.
package enum AuditAction: String, Sendable, CaseIterable {
    case signedIn = "SIGNED_IN"
    /// A sign-in found an account with its email; it can be resumed.
    case conflictFound = "CONFLICT_FOUND"
    /// A user granted an application access; the resource is the session.
    case applicationGranted = "APPLICATION_GRANTED"
    case sessionRevoked = "SESSION_REVOKED"
    /// A session went on with a refresh token that a restore of the database had undone.
    case sessionRestored = "SESSION_RESTORED"
    /// An admin got the link of an email, with which they can act as its recipient.
    case linkIssued = "LINK_ISSUED"
    case sessionCookieCreated = "SESSION_COOKIE_CREATED"
    /// A pending credential was presented that belongs to another identity or another row.
    case pendingCredentialRefused = "PENDING_CREDENTIAL_REFUSED"

    case accountCreated = "ACCOUNT_CREATED"
    case accountImported = "ACCOUNT_IMPORTED"
    case accountUpdated = "ACCOUNT_UPDATED"
    /// Its email was verified for the first time by a user who had not signed in to it; earlier credentials were
    /// removed.
    case accountTakenOver = "ACCOUNT_TAKEN_OVER"
    case accountDeleted = "ACCOUNT_DELETED"
    /// An admin read accounts with their password hashes, or exported a list of accounts at the console.
    case accountsExported = "ACCOUNTS_EXPORTED"
    case accountMerged = "ACCOUNT_MERGED"
    case mergeUndone = "MERGE_UNDONE"

    case credentialLinked = "CREDENTIAL_LINKED"
    case credentialUnlinked = "CREDENTIAL_UNLINKED"
    /// The grant at the provider was revoked.
    case consentWithdrawn = "CONSENT_WITHDRAWN"
    case credentialBlocked = "CREDENTIAL_BLOCKED"
    case credentialUnblocked = "CREDENTIAL_UNBLOCKED"
    /// An admin got the provider's access token.
    case providerTokenRead = "PROVIDER_TOKEN_READ"
    /// Whether the provider's relay address forwards emails.
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
    /// An admin can sign in to the console after setup.
    case adminCreated = "ADMIN_CREATED"
    /// The admin has set a password and an authenticator app.
    case adminSetUp = "ADMIN_SET_UP"
    case adminReset = "ADMIN_RESET"
    case adminRevoked = "ADMIN_REVOKED"
    case adminSignedIn = "ADMIN_SIGNED_IN"
    case adminKeyCreated = "ADMIN_KEY_CREATED"
    case adminKeyRevoked = "ADMIN_KEY_REVOKED"
    case serviceAccountCreated = "SERVICE_ACCOUNT_CREATED"
    case serviceAccountRevoked = "SERVICE_ACCOUNT_REVOKED"
    case workloadCreated = "WORKLOAD_CREATED"
    case workloadRevoked = "WORKLOAD_REVOKED"
    /// A workload exchanged a token of its platform.
    case accessTokenGranted = "ACCESS_TOKEN_GRANTED"
    /// An application that signs its users in with the project's accounts.
    case clientCreated = "OAUTH_CLIENT_CREATED"
    case clientChanged = "OAUTH_CLIENT_CHANGED"
    case clientDeleted = "OAUTH_CLIENT_DELETED"
    /// Webhooks that were given up are due again; the resource is the only one, or nil.
    case webhooksResent = "WEBHOOKS_RESENT"
    /// An operator declared that the database was restored; `changes` has the time to which.
    case databaseRestored = "DATABASE_RESTORED"
    case signingKeyCreated = "SIGNING_KEY_CREATED"
    case signingKeyRemoved = "SIGNING_KEY_REMOVED"
}
