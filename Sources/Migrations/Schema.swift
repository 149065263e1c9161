/// The schema as the list of its migrations.
package enum Schema {
    /// In the order of their names; a released migration never changes.
    package static let all: [Migration] = [
        .createSchema, .rotateRefreshTokens, .renewProviderTokens, .recordDetachedCredentials, .trackProviderGrants,
        .keepResponseType, .deleteEndedFlows, .orderBlocks, .settleOutbox, .addServiceAccounts,
        .storeOOBCodes, .storeVerificationCodes, .addSecondFactors, .limitRates, .bindFlowsToBrowsers,
        .storePasswordConfigurations, .createTenants, .orderAccounts, .orderRevocations, .mergeAccounts,
        .rotateSigningKeys, .auditChanges, .takeTurnsAtCleanup, .traceMessages, .openConsole, .countSignIns,
        .bindCodesToSessions, .recordRevocations, .indexInitialEmails, .addPasskeys, .groupAccounts,
        .addShortCodes, .federateWorkloads, .grantApplications, .indexUnusedCodes, .logOutApplications,
        .indexApplicationSessions, .limitSessions, .findDestinations, .nameProjectURLs,
        .rememberPhoneNumbers, .indexRecoveries, .indexGuests, .keepOlderCodes, .queueLogoutsByClient,
        .addConfigurationEpoch, .separateReceivers, .indexReceivers, .rememberRecoveries, .declareRestores,
        .endGrantsInPortions, .rememberSessionsPast, .countAccountSignIns,
    ]
}
