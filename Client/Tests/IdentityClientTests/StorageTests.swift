import Foundation
import IdentityClient
import IdentityCore
import IdentityTestKit
import Testing

@Suite struct StorageTests {
    private let folder: TemporaryFolder
    private let file: URL
    private let store: FileSessionStorage

    init() throws {
        self.folder = try TemporaryFolder()
        self.file = folder.url.appendingPathComponent("session")
        self.store = FileSessionStorage(file: file)
    }

    @Test func onlyTheOwnerReadsTheFile() throws {
        try store.write(Data("one".utf8))
        try store.write(Data("two".utf8))
        #expect(try store.read() == Data("two".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["session"])
        try store.remove()
        try store.remove()
        #expect(try store.read() == nil)
    }

    @Test func namesTheErrorOfTheSystem() {
        let store = FileSessionStorage(file: file.appendingPathComponent("missing"))
        #expect(throws: SessionStorageError.system(code: ENOENT)) { try store.write(Data()) }
    }

    @Test func aFullDiskKeepsTheSessionAndTheOldToken() async throws {
        let service = try StubService()
        let disk = FullDisk()
        let auth = try Auth(url: service.url, apiKey: "key", storage: disk)
        let user = try await auth.signInAnonymously().user
        #expect(auth.storageError == nil)

        disk.isFull.withLock { $0 = true }
        let token = try await user.idToken(forcingRefresh: true)
        #expect(auth.storageError == .diskFull)
        #expect(try await user.idToken() == token)
        // R2 is in memory only: a process that read R1 would lose the session if R2 were used now.
        _ = try await user.idToken(forcingRefresh: true)
        #expect(service.presented == ["R1", "R1"])

        disk.isFull.withLock { $0 = false }
        _ = try await user.idToken(forcingRefresh: true)
        _ = try await user.idToken(forcingRefresh: true)
        #expect(service.presented == ["R1", "R1", "R1", "R4"])
        #expect(auth.storageError == nil)
    }

    @Test func aSignInOnAFullDiskLastsInMemory() async throws {
        let service = try StubService()
        let disk = FullDisk()
        disk.isFull.withLock { $0 = true }
        let auth = try Auth(url: service.url, apiKey: "key", storage: disk)
        let user = try await auth.signInAnonymously().user
        _ = try await user.idToken(forcingRefresh: true)
        _ = try await user.idToken(forcingRefresh: true)
        #expect(service.presented == ["R1", "R2"])
        #expect(auth.currentUser == user)
    }

    @Test func aRecordOfANewerVersionIsLeftAlone() async throws {
        let service = try StubService(lifetime: 200)
        let auth = try Auth(url: service.url, apiKey: "key", storage: store)
        let user = try await auth.signInAnonymously().user
        let token = try await user.idToken(forcingRefresh: true)
        let newer = Data(#"{"version":2,"account":{}}"#.utf8)
        try store.write(newer)

        #expect(try await user.idToken() == token)
        let error = await #expect(throws: AuthError.self) { try await user.idToken(forcingRefresh: true) }
        guard case .storage(.newerVersion(2))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(auth.currentUser == user)
        #expect(service.presented == ["R1"])
        #expect(try store.read() == newer)
        #expect(throws: AuthError.self) { try Auth(url: service.url, apiKey: "key", storage: store) }
    }

    @Test(arguments: ["", "{", "<html>", #"{"version":1}"#])
    func refusesWhatIsNoRecord(_ text: String) throws {
        let url = try #require(URL(string: "https://auth.example.com"))
        try store.write(Data(text.utf8))
        let error = #expect(throws: AuthError.self) { try Auth(url: url, apiKey: "key", storage: store) }
        guard case .storage(.unreadable)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try store.read() == Data(text.utf8))
    }

    @Test func refusesTheSessionOfAnotherProject() async throws {
        let service = try StubService()
        _ = try await Auth(url: service.url, apiKey: "key", storage: store).signInAnonymously()
        let error = #expect(throws: AuthError.self) { try Auth(url: service.url, apiKey: "other", storage: store) }
        guard case .storage(.otherProject)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["http://auth.example.com", "ftp://127.0.0.1", "https:///", "http://127.0.0.1.example.com"])
    func refusesInsecureAddresses(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: AuthError.self) { try Auth(url: url, apiKey: "key", storage: store) }
    }
}

/// A store on a disk that can be full.
private final class FullDisk: SessionStorage {
    let isFull = Protected(false)
    private let memory = MemorySessionStorage()

    var lockFile: URL? { nil }
    func read() throws(SessionStorageError) -> Data? { memory.read() }
    func remove() throws(SessionStorageError) { memory.remove() }
    func write(_ record: Data) throws(SessionStorageError) {
        guard !isFull.withLock({ $0 }) else { throw .diskFull }
        memory.write(record)
    }
}
