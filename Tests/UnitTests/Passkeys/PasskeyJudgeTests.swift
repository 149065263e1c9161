import Foundation
import Passkeys
import Secrets
import TestKit
import Testing

/// PyPI's `fido2` and `webauthn` judge registrations and assertions that a software authenticator makes and mutates.
@Suite("Passkeys against fido2 and webauthn", .timeLimit(.minutes(20)))
struct PasskeyJudgeTests {
    /// `make test-long` judges more of them, from a seed of the day's.
    private static let count = ProcessInfo.processInfo.environment["PASSKEY_CASES"].flatMap { Int($0) }
    private static let seed = ProcessInfo.processInfo.environment["PASSKEY_SEED"].flatMap { Int($0) } ?? 28

    private struct Head: Decodable { let root: String }

    private struct Case: Decodable {
        struct Stored: Decodable {
            let id, key, handle: String
            let signCount: UInt32
            let isBackupEligible: Bool
        }

        /// What `webauthn` says of a response that it accepts.
        struct Found: Decodable, Equatable {
            var id: String
            var signCount: UInt32
            var aaguid: String?
            var isUserVerified, isBackupEligible, isBackedUp: Bool
        }

        let ceremony, mutation, challenge, id: String
        let requiresUserVerification: Bool
        let response: [String: String]
        let handle: String?
        let stored: Stored?
        let verdicts: [String: Bool]
        let found: Found?
    }

    /// A line of `disagreements.tsv`.
    private struct Disagreement: Hashable {
        let judge, ours, mutation: String

        func covers(_ other: Disagreement) -> Bool {
            judge == other.judge && ours == other.ours
                && (mutation == other.mutation
                    || mutation.hasSuffix("*") && other.mutation.hasPrefix(mutation.dropLast()))
        }
    }

    private static func bytes(_ hex: some StringProtocol) -> [UInt8] {
        func value(_ digit: UInt8) -> UInt8 { digit < 0x3a ? digit - 0x30 : digit - 0x57 }
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { value(digits[$0]) << 4 | value(digits[$0 + 1]) }
    }

    private static let relyingParty = RelyingParty(
        id: "example.com",
        origins: [
            "https://example.com", "https://app.example.com:8443",
            "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS0H1T8sYJQfFg",
        ]
    )

    /// What we find, if we accept the response.
    private static func verify(_ test: Case, _ policy: AttestationPolicy) async throws -> Case.Found {
        let response = test.response.mapValues { bytes($0) }
        guard let id = CredentialID(bytes: bytes(test.id)) else { throw PasskeyError.unacceptableCredentialID }
        let challenge = Challenge(bytes: bytes(test.challenge))
        let userVerification: UserVerification = test.requiresUserVerification ? .required : .preferred
        let clientData = try ClientData(response["clientDataJSON"] ?? [])
        guard let stored = test.stored else {
            let ceremony = RegistrationCeremony(
                relyingParty: relyingParty,
                challenge: challenge,
                userVerification: userVerification,
                attestation: policy
            )
            let record = try await ceremony.verify(
                RegistrationResponse(
                    id: id,
                    clientData: clientData,
                    attestationObject: response["attestationObject"] ?? []
                ),
                now: 1_800_000_000
            )
            return Case.Found(
                id: record.id.bytes.lowercaseHex,
                signCount: record.signCount,
                aaguid: record.aaguid.description,
                isUserVerified: record.hasVerifiedUser,
                isBackupEligible: record.isBackupEligible,
                isBackedUp: record.isBackedUp
            )
        }
        let record = CredentialRecord(
            id: try #require(CredentialID(bytes: bytes(stored.id))),
            publicKey: try COSEKey(bytes(stored.key)),
            signCount: stored.signCount,
            hasVerifiedUser: false,
            isBackupEligible: stored.isBackupEligible,
            isBackedUp: false,
            transports: [],
            aaguid: try #require(AAGUID(bytes: [UInt8](repeating: 0, count: 16))),
            attestation: .none
        )
        let ceremony = AssertionCeremony(
            relyingParty: relyingParty,
            challenge: challenge,
            userVerification: userVerification
        )
        let assertion = try ceremony.verify(
            AssertionResponse(
                id: id,
                clientData: clientData,
                authenticatorData: response["authenticatorData"] ?? [],
                signature: response["signature"] ?? [],
                userHandle: test.handle.map { bytes($0) }
            ),
            of: record,
            userHandle: bytes(stored.handle)
        )
        guard assertion.counter == .plausible else { throw CloneSuspected() }
        return Case.Found(
            id: assertion.record.id.bytes.lowercaseHex,
            signCount: assertion.record.signCount,
            isUserVerified: assertion.isUserVerified,
            isBackupEligible: assertion.record.isBackupEligible,
            isBackedUp: assertion.record.isBackedUp
        )
    }

    private struct CloneSuspected: Error {}

    @Test("are judged alike, but for the disagreements that are listed with a reason")
    func agree() async throws {
        let folder = IdentityProgram.repository.appending(path: "Tests/Passkeys")
        let file = FileManager.default.temporaryDirectory.appending(path: "passkeys-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        let made = try await Program.run(
            IdentityProgram.repository.appending(path: ".venv/bin/python").path,
            [folder.appending(path: "make_cases.py").path, "\(Self.count ?? 700)", "\(Self.seed)", file.path],
            within: .seconds(3600)
        )
        try #require(made.status == 0, "\(made)")
        let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"))
        let root = try JSONDecoder().decode(Head.self, from: #require(lines.first)).root
        let policy = AttestationPolicy(
            accepted: [.none, .selfSigned, .certified],
            roots: [try #require(AttestationPolicy.Root(der: Self.bytes(root)))]
        )
        let listed = try String(contentsOf: folder.appending(path: "disagreements.tsv"), encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: "\t").map { String($0) } }
        try #require(
            listed.allSatisfy { $0.count == 4 },
            "a disagreement needs a judge, our verdict, a mutation, a reason"
        )
        let reasons = listed.map { Disagreement(judge: $0[0], ours: $0[1], mutation: $0[2]) }

        var used: Set<Disagreement> = []
        var unexplained: [Disagreement: Int] = [:]
        var verdicts: [String: Int] = [:]
        for line in lines.dropFirst() {
            let test = try JSONDecoder().decode(Case.self, from: line)
            let ours: String
            do {
                let found = try await Self.verify(test, policy)
                ours = "accepted"
                if let judged = test.found { #expect(found == judged, "\(test.ceremony) \(test.mutation)") }
            } catch let error as PasskeyError {
                ours = error.rawValue
            } catch is CloneSuspected {
                ours = "cloneSuspected"
            }
            verdicts[ours, default: 0] += 1
            for (judge, accepts) in test.verdicts where accepts != (ours == "accepted") {
                let disagreement = Disagreement(judge: judge, ours: ours, mutation: test.mutation)
                if let reason = reasons.first(where: { $0.covers(disagreement) }) {
                    used.insert(reason)
                } else {
                    unexplained[disagreement, default: 0] += 1
                }
            }
        }
        for (disagreement, count) in unexplained {
            Issue.record("\(count) × \(disagreement.judge)\t\(disagreement.ours)\t\(disagreement.mutation)")
        }
        #expect(verdicts["accepted"] ?? 0 > lines.count / 5, "most are refused, which tests little: \(verdicts)")
        // Enough for each mutation to have come with each algorithm and attestation.
        guard let count = Self.count, count >= 10_000 else { return }
        print("passkeys: \(count) cases, \(verdicts.sorted { $0.value > $1.value })")
        // Damage is left to chance.
        for reason in reasons where !used.contains(reason) && reason.mutation != "damage.*" {
            Issue.record("no case disagrees so any more: \(reason)")
        }
        let never = Set(PasskeyError.allCases.map(\.rawValue)).subtracting(verdicts.keys)
        #expect(never.subtracting(["credentialNotAllowed"]).isEmpty, "never refused for \(never)")
    }
}
