import Delivery
package import Domain
import Postgres
package import Projects
import Secrets

extension ConfigurationStore {
    /// The number of providers that a project or a tenant can have: each node keeps all of them in memory.
    package static let providerLimit = 100

    /// Adds a provider's configuration.
    ///
    /// - Throws: ``ConfigurationError/alreadyExists``; ``ConfigurationError/notFound`` if the project or tenant has as many as
    ///   it may (``providerLimit``).
    package func createProvider(_ configuration: ProviderConfiguration, in scope: Scope) async throws {
        let secrets = try seal(configuration, scope)
        do {
            try await changing(
                """
                INSERT INTO provider_configurations (project, tenant, provider, enabled, display_name, client_id,
                    client_secret, webhook_secret, audiences, issuer, response_type, overrides, created_at, updated_at)
                SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(configuration.provider.rawValue),
                    \(configuration.enabled), \(configuration.displayName), \(configuration.clientID), \(secrets.client),
                    \(secrets.webhook), \(configuration.audiences), \(configuration.issuer),
                    \(configuration.responseType?.rawValue), \(configuration.overrides), \(now()), \(now())
                WHERE \(Int64(Self.providerLimit)) > (
                    SELECT count(*) FROM provider_configurations
                    WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                )
                RETURNING true
                """,
                recording: AuditEntry(.providerCreated, in: scope, providers: [configuration.provider], at: now()),
                adding: scope.project
            )
        } catch let error as PostgresError where error.constraint == "provider_configurations_pkey" {
            throw ConfigurationError.alreadyExists
        }
    }

    /// A version that differs for different configurations, secrets included, without revealing them.
    package func version(of configuration: ProviderConfiguration) -> String {
        let parts: [String?] =
            [
                configuration.provider.rawValue, "\(configuration.enabled)", configuration.displayName,
                configuration.clientID, configuration.clientSecret?.reveal(), configuration.webhookSecret?.reveal(),
                configuration.issuer, configuration.responseType?.rawValue, configuration.overrides,
            ] + configuration.audiences
        let text = parts.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined()
        return Base64URL.encode(keyRing.authenticationCode(of: Array("provider configuration \(text)".utf8)))
    }

    /// Replaces a provider's whole configuration.
    ///
    /// - Throws: ``ConfigurationError/notFound``.
    package func replaceProvider(_ configuration: ProviderConfiguration, in scope: Scope) async throws {
        _ = try await updateProvider(configuration.provider, in: scope) { $0 = configuration }
    }

    /// - Throws: ``ConfigurationError/notFound``.
    package func deleteProvider(_ provider: ProviderID, in scope: Scope) async throws {
        try await changing(
            "\(sql: Self.deletion(of: provider, in: scope)) RETURNING provider",
            recording: AuditEntry(.providerDeleted, in: scope, providers: [provider], at: now())
        )
    }

    /// Changes a provider's current configuration; simultaneous changes do not undo each other.
    ///
    /// - Parameter sendsElsewhere: whether the second one sends tokens elsewhere than the first: refused while users' tokens
    ///   are stored; what waits to be revoked is given up.
    /// - Returns: the configuration afterwards.
    /// - Throws: what `change` throws, and nothing is changed; ``ConfigurationError/notFound``,
    ///   ``ConfigurationError/tokensKept``.
    package func updateProvider(
        _ provider: ProviderID,
        in scope: Scope,
        sendsElsewhere: @escaping @Sendable (ProviderConfiguration, ProviderConfiguration) -> Bool = { _, _ in false },
        _ change: @escaping @Sendable (inout ProviderConfiguration) throws -> Void
    ) async throws -> ProviderConfiguration {
        let changed = try await transactionInTurn(of: scope.project) { transaction in
            let before = try await lock(provider, in: scope, transaction)
            var configuration = before
            try change(&configuration)
            if sendsElsewhere(before, configuration) {
                guard try await !keepsTokens(of: provider, in: scope, transaction) else {
                    throw ConfigurationError.tokensKept
                }
                transaction.write(
                    """
                    UPDATE outbox SET abandoned_at = \(now()), payload = ''
                    WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                        AND provider = \(provider.rawValue) AND kind = \(ProviderRevocation.kind)
                        AND delivered_at IS NULL AND abandoned_at IS NULL
                    """
                )
            }
            let entry = AuditEntry(
                .providerChanged,
                in: scope,
                providers: [provider],
                changes: configuration.members(unlike: before),
                at: now()
            )
            let replacement = replacement(configuration, try seal(configuration, scope), scope)
            try await Self.keepingSize(of: scope.project, transaction) {
                Self.record(written: replacement, entry, transaction)
            }
            return configuration
        }
        try await load()
        return changed
    }

    /// Whether tokens of users at the provider are stored.
    package func keepsTokens(of provider: ProviderID, in scope: Scope) async throws -> Bool {
        try await keepsTokens(of: provider, in: scope, database)
    }

    private func keepsTokens(
        of provider: ProviderID,
        in scope: Scope,
        _ executor: some PostgresExecutor
    ) async throws -> Bool {
        try await executor.query(
            """
            SELECT EXISTS (
                SELECT FROM linked_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND provider = \(provider.rawValue) AND (tokens IS NOT NULL OR refresh_token IS NOT NULL)
            )
            """
        ) { try $0.next(Bool.self) } == [true]
    }

    /// Deletes a provider's configuration, if it has not changed.
    ///
    /// - Throws: what `check` throws, and nothing is deleted; ``ConfigurationError/notFound``.
    package func deleteProvider(
        _ provider: ProviderID,
        in scope: Scope,
        if check: @escaping @Sendable (ProviderConfiguration) throws -> Void
    ) async throws {
        try await transactionInTurn(of: scope.project) { transaction in
            try check(try await lock(provider, in: scope, transaction))
            let entry = AuditEntry(.providerDeleted, in: scope, providers: [provider], at: now())
            Self.record(written: Self.deletion(of: provider, in: scope), entry, transaction)
        }
        try await load()
    }

    private func lock(
        _ provider: ProviderID,
        in scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> ProviderConfiguration {
        let found = try await readProviders(
            """
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND provider = \(provider.rawValue)
            FOR UPDATE
            """,
            transaction
        )
        guard let configuration = try found.first.map({ try open($0).1 }) else { throw ConfigurationError.notFound }
        return configuration
    }

    private func replacement(_ configuration: ProviderConfiguration, _ secrets: SealedSecrets, _ scope: Scope) -> SQL {
        """
        UPDATE provider_configurations SET enabled = \(configuration.enabled),
            display_name = \(configuration.displayName), client_id = \(configuration.clientID),
            client_secret = \(secrets.client), webhook_secret = \(secrets.webhook),
            audiences = \(configuration.audiences), issuer = \(configuration.issuer),
            response_type = \(configuration.responseType?.rawValue), overrides = \(configuration.overrides), updated_at = \(now())
        WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND provider = \(configuration.provider.rawValue)
        """
    }

    private static func deletion(of provider: ProviderID, in scope: Scope) -> SQL {
        """
        DELETE FROM provider_configurations
        WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND provider = \(provider.rawValue)
        """
    }

    func readProviders() async throws -> [(Scope, ProviderConfiguration)] {
        try await readProviders("", database).compactMap { row in
            readable("provider \(row.configuration.provider) of project \(row.project)") { try open(row) }
        }
    }

    private struct Row {
        var project: String
        var tenant: TenantID
        /// Its secrets are still sealed.
        var configuration: ProviderConfiguration
        var secrets: SealedSecrets
    }

    private struct SealedSecrets {
        var client: [UInt8]?
        var webhook: [UInt8]?
    }

    private func readProviders(_ condition: SQL, _ executor: some PostgresExecutor) async throws -> [Row] {
        try await executor.query(
            """
            SELECT project, tenant, provider, enabled, display_name, client_id, client_secret, webhook_secret,
                audiences, issuer, response_type, overrides
            FROM provider_configurations \(sql: condition)
            """
        ) { row in
            let project: String = try row.next()
            let tenant: String = try row.next()
            var configuration = ProviderConfiguration(
                provider: ProviderID(try row.next(String.self)),
                enabled: try row.next(),
                displayName: try row.next(),
                clientID: try row.next()
            )
            let secrets = SealedSecrets(client: try row.next(), webhook: try row.next())
            configuration.audiences = try row.next()
            configuration.issuer = try row.next()
            configuration.responseType = try row.next(String?.self).flatMap(ProviderConfiguration.ResponseType.init)
            configuration.overrides = try row.next()
            return Row(
                project: project,
                tenant: TenantID(rawValue: tenant),
                configuration: configuration,
                secrets: secrets
            )
        }
    }

    private func open(_ row: Row) throws -> (Scope, ProviderConfiguration) {
        guard let project = ProjectID(rawValue: row.project) else { throw ConfigurationError.unreadable("its project") }
        var configuration = row.configuration
        let scope = Scope(project: project, tenant: row.tenant)
        configuration.clientSecret = try row.secrets.client.map {
            try keyRing.openSecret($0, for: Self.place("client_secret", configuration.provider, scope))
        }
        configuration.webhookSecret = try row.secrets.webhook.map {
            try keyRing.openSecret($0, for: Self.place("webhook_secret", configuration.provider, scope))
        }
        return (scope, configuration)
    }

    private func seal(_ configuration: ProviderConfiguration, _ scope: Scope) throws -> SealedSecrets {
        SealedSecrets(
            client: try configuration.clientSecret.map {
                try keyRing.seal($0, for: Self.place("client_secret", configuration.provider, scope))
            },
            webhook: try configuration.webhookSecret.map {
                try keyRing.seal($0, for: Self.place("webhook_secret", configuration.provider, scope))
            }
        )
    }

    private static func place(_ column: String, _ provider: ProviderID, _ scope: Scope) -> String {
        "provider_configurations/\(scope.project)/\(scope.tenant)/\(provider)/\(column)"
    }
}

extension ProviderConfiguration {
    /// The members in which it differs from the other one, by their names in the API.
    fileprivate func members(unlike other: ProviderConfiguration) -> [String] {
        [
            ("enabled", enabled != other.enabled), ("displayName", displayName != other.displayName),
            ("clientId", clientID != other.clientID),
            ("clientSecret", clientSecret?.reveal() != other.clientSecret?.reveal()),
            ("webhookSecret", webhookSecret?.reveal() != other.webhookSecret?.reveal()),
            ("audiences", audiences != other.audiences), ("issuer", issuer != other.issuer),
            ("responseType", responseType != other.responseType), ("definition", overrides != other.overrides),
        ].filter(\.1).map(\.0)
    }
}
