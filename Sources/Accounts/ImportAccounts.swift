package import Domain
import Passkeys
package import Passwords
package import Projects
package import Secrets
import Sessions
import Storage
package import struct Foundation.Date

extension AccountsService { package var importAccounts: ImportAccounts { ImportAccounts(service: self) } }

/// Imports accounts with their IDs, times and password hashes.
///
/// Each account is imported completely or not at all, independently of the others.
package struct ImportAccounts: Sendable {
    let service: AccountsService

    package var now: Date { service.now() }

    /// The password in a hash of the emulator, in `identity dev`; nil for every other hash.
    package func password(inHash text: String) -> Secret? { service.options.passwordInHash(text) }

    package struct Entry: Sendable {
        package enum Password: Sendable {
            case plain(Secret)
            case hash(PasswordHash)
        }

        package var localID: String?
        package var tenantID: String?
        package var email: String?
        package var emailVerified = false
        package var initialEmail: String?
        package var emailLinkSignIn = false
        package var profile = Profile()
        package var phoneNumber: String?
        package var disabled: Bool?
        package var customAuth = false
        /// A JSON object as text.
        package var customAttributes: String?
        /// Seconds since 1970; nil if nothing was ever revoked.
        package var validSince: Int64?
        package var createdAt: Date?
        package var lastSignInAt: Date?
        package var lastRefreshAt: Date?
        package var password: Password?
        package var passwordUpdatedAt: Date?
        /// If an entry lacks the data for a sign-in, its subject is empty.
        package var linked: [LinkedCredential] = []
        package var secondFactors: [AdminSecondFactor] = []
        /// As an export in full has them.
        package var passkeys: [Passkey] = []

        package init() {}
    }

    package struct Outcome: Sendable {
        /// Why entries were not imported, by index.
        package var problems: [Int: ImportProblem] = [:]
        /// What imported entries had that is not imported, by index.
        package var leftOut: [Int: [ImportOmission]] = [:]
    }

    /// The number of accounts per statement.
    private static let batch = 500
    /// The number of passwords that are hashed at once; the hasher has its own workers and queue.
    private static let width = 16

    /// - Parameter replaces: an entry replaces an existing account with the same ID; otherwise the entry is
    ///   refused.
    /// - Parameters:
    ///   - dryRun: determines the result of each entry together with the others, and writes nothing.
    ///   - keepsUnverifiedFactors: for what `identity dev` exported: a sign-up there can bring second factors without a
    ///     verified email.
    package func callAsFunction(
        _ entries: [Entry],
        replaces: Bool = false,
        dryRun: Bool = false,
        keepsUnverifiedFactors: Bool = false,
        _ project: Project
    ) async throws -> Outcome {
        var problems: [Int: ImportProblem] = [:]
        var keptApps: Set<Int> = []
        if !dryRun { try await keepConfigurations(of: entries, project) }
        for start in stride(from: 0, to: entries.count, by: Self.batch) {
            let indices = start..<min(start + Self.batch, entries.count)
            let known = replaces ? [] : try await known(entries[indices], project)
            // In order: of two entries with the same claim, the first is imported.
            var landing: [(index: Int, account: ImportedAccount)] = []
            for index in indices {
                do throws(ImportProblem) {
                    guard !known.contains(entries[index].localID ?? "") else { throw .accountExists }
                    let entry = entries[index]
                    let account = try account(of: entry, keepsUnverifiedFactors, project)
                    let password = try hash(of: entry)
                    let imported = ImportedAccount(account: account, password: password, keepsApp: entry.lacksApp)
                    landing.append((index, imported))
                } catch {
                    problems[index] = error
                }
            }
            for (index, problem) in await hashPlain(&landing, of: entries, project) { problems[index] = problem }
            landing.removeAll { problems[$0.index] != nil }
            let imported = try await service.accounts.importAccounts(
                landing.map(\.account),
                replaces: replaces,
                dryRun: dryRun,
                in: project.scope,
                now: service.now()
            )
            for (position, conflict) in imported.conflicts {
                problems[landing[position].index] = ImportProblem(conflict)
            }
            keptApps.formUnion(imported.keptApps.map { landing[$0].index })
        }
        var outcome = Outcome(problems: problems)
        for (index, entry) in entries.enumerated() where problems[index] == nil {
            let leftOut = entry.leftOut(keptApp: keptApps.contains(index))
            if !leftOut.isEmpty { outcome.leftOut[index] = leftOut }
        }
        return outcome
    }

    /// The algorithm of the hashes: the project's own, or an imported one.
    package static func origin(
        _ algorithm: PasswordAlgorithm,
        key: [UInt8],
        _ project: Project
    ) throws(PasswordParameterError) -> PasswordHash.Origin {
        if case .firebaseScrypt(let parameters) = algorithm, ConstantTime.equal(key, project.signerKey) {
            return .project(parameters)
        }
        return .imported(try PasswordConfiguration(algorithm, key: key, signerKey: project.signerKey))
    }

    private func keepConfigurations(of entries: [Entry], _ project: Project) async throws {
        var configurations: Set<PasswordConfiguration> = []
        for entry in entries {
            guard case .hash(let hash) = entry.password, case .imported(let configuration) = hash.origin else {
                continue
            }
            configurations.insert(configuration)
        }
        for configuration in configurations {
            try await service.accounts.keep(configuration, of: project.id, now: service.now())
        }
    }

    /// The IDs that exist, whose passwords need no hashing.
    private func known(
        _ entries: ArraySlice<Entry>,
        _ project: Project
    ) async throws -> Set<String> {
        let ids = entries.compactMap { $0.localID.map { AccountID($0) } }.filter { !$0.rawValue.utf8.contains(0) }
        let found = try await service.accounts.find(
            AccountSelectors(accounts: ids),
            merged: true,
            in: project.scope
        )
        return Set(found.map(\.id.rawValue))
    }

    private func hash(of entry: Entry) throws(ImportProblem) -> StoredPassword? {
        guard case .hash(let hash) = entry.password else { return nil }
        let fits =
            switch hash.origin {
            case .project: hash.hash.count == 64 && hash.salt.count <= 1024
            case .imported(let configuration): configuration.fits(hash: hash.hash, salt: hash.salt)
            }
        guard fits else { throw .invalidHash }
        return StoredPassword(hash: hash)
    }

    /// Hashes passwords in plain text.
    ///
    /// - Returns: why entries are refused.
    private func hashPlain(
        _ landing: inout [(index: Int, account: ImportedAccount)],
        of entries: [Entry],
        _ project: Project
    ) async -> [Int: ImportProblem] {
        var problems: [Int: ImportProblem] = [:]
        let plain = landing.indices.compactMap { position -> (position: Int, password: Secret)? in
            guard case .plain(let password) = entries[landing[position].index].password else { return nil }
            return (position, password)
        }
        for start in stride(from: 0, to: plain.count, by: Self.width) {
            await withTaskGroup(of: Hashed.self) { group in
                for (position, password) in plain[start..<min(start + Self.width, plain.count)] {
                    group.addTask { Hashed(position: position, result: await hash(password, project)) }
                }
                for await hashed in group {
                    switch hashed.result {
                    case .success(let password): landing[hashed.position].account.password = password
                    case .failure(let problem): problems[landing[hashed.position].index] = problem
                    }
                }
            }
        }
        return problems
    }

    private struct Hashed: Sendable {
        /// The index among the accounts to import.
        var position: Int
        var result: Result<StoredPassword, ImportProblem>
    }

    private func hash(_ password: Secret, _ project: Project) async -> Result<StoredPassword, ImportProblem> {
        // Existing passwords are not subject to the policy for new ones.
        guard !password.reveal().isEmpty, password.reveal().utf16.count <= PasswordPolicy.lengths.upperBound else {
            return .failure(.invalidPassword)
        }
        do {
            let stored = try await service.hash(password, project, for: project.hashShare)
            return .success(stored)
        } catch {
            return .failure(.passwordNotHashed)
        }
    }

    private func account(
        of entry: Entry,
        _ keepsUnverifiedFactors: Bool,
        _ project: Project
    ) throws(ImportProblem) -> Account {
        guard let localID = entry.localID, !localID.isEmpty else { throw .missingLocalID }
        // Most SDKs send the tenant only in the path.
        if let named = entry.tenantID, !named.isEmpty, named != project.tenant.rawValue { throw .otherTenant }
        guard let id = try? AdminAccounts.accountID(localID) else { throw .invalidLocalID }
        var account = Account(
            id: id,
            validSince: entry.validSince ?? 0,
            createdAt: entry.createdAt ?? service.now()
        )
        guard account.validSince >= 0 else { throw .invalidTime }
        do { account.email = try AdminAccounts.email(entry.email) } catch { throw .invalidEmail }
        account.emailVerified = entry.emailVerified && account.email != nil
        account.emailLinkSignIn = entry.emailLinkSignIn && account.email != nil
        do { account.initialEmail = try AdminAccounts.email(entry.initialEmail)?.canonical } catch {
            throw .invalidEmail
        }
        do { account.phoneNumber = try AdminAccounts.phoneNumber(entry.phoneNumber) } catch {
            throw .invalidPhoneNumber
        }
        do throws(AccountsError) {
            for field in Profile.ofAccounts { account.profile[field] = try field.checked(entry.profile[field]) }
        } catch { throw .invalidProfile }
        account.customAttributes = try claims(entry.customAttributes)
        account.disabled = entry.disabled
        account.customAuth = entry.customAuth
        account.lastSignInAt = entry.lastSignInAt
        account.lastRefreshAt = entry.lastRefreshAt
        account.hasPassword = entry.password != nil
        account.passwordUpdatedAt = entry.passwordUpdatedAt
        account.linked = try linked(entry.linked)
        if !entry.secondFactors.isEmpty, !keepsUnverifiedFactors {
            guard account.email != nil else { throw .secondFactorWithoutEmail }
            guard account.emailVerified else { throw .secondFactorWithoutVerifiedEmail }
        }
        account.secondFactors = try secondFactors(entry.importableFactors, of: account, project)
        account.passkeys = try passkeys(entry.importablePasskeys)
        return account
    }

    private func passkeys(_ passkeys: [Passkey]) throws(ImportProblem) -> [Passkey] {
        let areUsable = passkeys.allSatisfy { passkey in
            (try? passkey.record) != nil && (1...64).contains(passkey.userHandle.count)
                && Attestation(rawValue: passkey.attestation) != nil && passkey.transports.count <= 8
                && passkey.transports.allSatisfy { $0.utf8.count <= 32 && !$0.utf8.contains(0) }
                && (try? ProfileRules.displayName(passkey.name)) == passkey.name
        }
        guard areUsable, passkeys.count <= Passkey.most, Set(passkeys.map(\.id)).count == passkeys.count else {
            throw .invalidPasskey
        }
        return passkeys
    }

    private func claims(_ text: String?) throws(ImportProblem) -> String? {
        guard let text else { return nil }
        do { return try CustomClaimRules.check(text) } catch .claimsTooLarge {
            throw .claimsTooLarge
        } catch  where error.code == "FORBIDDEN_CLAIM" {
            throw .reservedClaim
        } catch { throw .invalidClaims }
    }

    private func linked(_ credentials: [LinkedCredential]) throws(ImportProblem) -> [LinkedCredential] {
        for (index, credential) in credentials.enumerated() {
            let texts =
                [credential.provider.rawValue, credential.subject, credential.email]
                + Profile.ofIdentities.map { credential.profile[$0] }
            guard !credential.provider.rawValue.isEmpty, !credential.subject.isEmpty else { throw .missingSubject }
            guard credential.provider.isFederated, credential.provider.rawValue.utf8.count <= 128,
                credential.subject.utf8.count <= 255,
                texts.allSatisfy({ $0.map { $0.utf8.count <= 4096 && !$0.utf8.contains(0) } ?? true })
            else { throw .invalidCredential }
            guard !credentials[..<index].contains(where: { $0.provider == credential.provider }) else {
                throw .providerTwice
            }
        }
        return credentials.map { credential in
            var credential = credential
            credential.email = credential.email.flatMap { EmailAddress($0) }?.canonical ?? credential.email
            for field in Profile.ofIdentities where credential.profile[field] == "" { credential.profile[field] = nil }
            return credential
        }.sorted { $0.provider.rawValue < $1.provider.rawValue }
    }

    private func secondFactors(
        _ wanted: [AdminSecondFactor],
        of account: Account,
        _ project: Project
    ) throws(ImportProblem) -> [SecondFactor] {
        guard !wanted.isEmpty else { return [] }
        var wanted = wanted
        var apps: [SecondFactor] = []
        for index in wanted.indices where wanted[index].phoneNumber == nil {
            guard let secret = wanted[index].sharedSecret else { throw .secondFactorNotSupported }
            let id = wanted[index].id ?? service.random.uuid()
            wanted[index].id = id
            let place = AccountsService.secretPlace(account.id, id, Caller(project: project))
            guard let sealed = try? service.keyRing.seal(secret, for: place) else { throw .secondFactorNotSupported }
            apps.append(
                SecondFactor(
                    id: id,
                    kind: .totp(sealedSecret: sealed, lastStep: 0),
                    displayName: wanted[index].displayName,
                    enrolledAt: wanted[index].enrolledAt ?? service.now()
                )
            )
        }
        guard apps.count <= SecondFactor.mostApps else { throw .secondFactorNotSupported }
        var account = account
        account.secondFactors = apps
        do {
            return try service.secondFactors(wanted, of: account)
        } catch .invalidPhoneNumber {
            throw .invalidSecondFactorNumber
        } catch .secondFactor(.duplicateEnrollment) {
            throw .enrollmentTwice
        } catch .secondFactor(.invalidEnrollment) {
            throw .invalidEnrollment
        } catch  where error.code == "INVALID_PROFILE_ATTRIBUTE" {
            throw .invalidProfile
        } catch {
            throw .secondFactorNotSupported
        }
    }
}

extension ImportAccounts.Entry {
    /// Firebase exports authenticator apps without their secrets.
    fileprivate var importableFactors: [AdminSecondFactor] {
        secondFactors.filter { factor in
            !factor.needsSecret || factor.phoneNumber != nil
                || factor.sharedSecret.map { (10...128).contains($0.count) } == true
        }
    }

    /// The emulator exports passkeys without their keys.
    fileprivate var importablePasskeys: [Passkey] { passkeys.filter { !$0.publicKey.isEmpty } }

    /// Whether the account that the entry replaces keeps its app, of which the entry has no secret.
    fileprivate var lacksApp: Bool {
        importableFactors.allSatisfy { $0.phoneNumber != nil }
            && secondFactors.contains { $0.needsSecret && $0.phoneNumber == nil && $0.sharedSecret == nil }
    }

    fileprivate func leftOut(keptApp: Bool) -> [ImportOmission] {
        var leftOut: [ImportOmission] = []
        if importableFactors.count + (keptApp ? 1 : 0) < secondFactors.count { leftOut.append(.secondFactor) }
        if importablePasskeys.count < passkeys.count { leftOut.append(.passkey) }
        return leftOut
    }
}

extension AdminAccounts {
    /// The secret that an authenticator app shares with the service; nil for another factor.
    ///
    /// For the export of `identity dev`: no route returns it.
    package func sharedSecret(
        of factor: SecondFactor,
        _ account: AccountID,
        _ project: Project
    ) throws -> [UInt8]? {
        guard case .totp(let sealed, _) = factor.kind else { return nil }
        let place = AccountsService.secretPlace(account, factor.id, Caller(project: project))
        return try service.keyRing.open(sealed, for: place)
    }
}
