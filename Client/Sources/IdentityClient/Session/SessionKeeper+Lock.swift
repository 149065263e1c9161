import Foundation
import IdentityCore

extension SessionKeeper {
    /// Runs one change at a time, of all tasks and processes; a cancelled caller does not abandon it.
    func exclusively<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(AuthError) -> Value
    ) async -> Result<Value, AuthError> {
        await Task {
            await mutex.acquire()
            let result = await self.locked(body)
            await mutex.release()
            return result
        }.value
    }

    private func locked<Value: Sendable>(
        _ body: @Sendable () async throws(AuthError) -> Value
    ) async -> Result<Value, AuthError> {
        do throws(AuthError) {
            guard let lock = try await lock() else { return .success(try await body()) }
            do throws(AuthError) {
                let value = try await body()
                lock.release()
                return .success(value)
            } catch {
                lock.release()
                return .failure(error)
            }
        } catch {
            return .failure(error)
        }
    }

    /// Returns nil if the store has no lock, or if its file cannot be opened: a full disk ends no session.
    private func lock() async throws(AuthError) -> FileLock? {
        guard let file = storage.lockFile else { return nil }
        do { return try await FileLock.acquire(file) } catch {
            guard error == .lockTimeout else {
                state.withLock { $0.storageError = error }
                return nil
            }
            throw .storage(error)
        }
    }
}
