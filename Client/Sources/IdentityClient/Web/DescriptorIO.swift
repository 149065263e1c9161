#if os(macOS) || os(Linux)
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Blocking reads and writes of a socket, each bounded in time.
enum DescriptorIO {
    static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// Returns nil after two seconds of silence, at the end, and on an error.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        guard isReadable(descriptor, within: 2000) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    static func write(_ bytes: some Sequence<UInt8>, to descriptor: Int32) {
        var rest = Array(bytes)
        while !rest.isEmpty {
            #if canImport(Darwin)
            let count = send(descriptor, rest, rest.count, 0)
            #else
            // A browser that has gone must not end the process with SIGPIPE.
            let count = send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
            #endif
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }

    static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
        _ = Musl.close(descriptor)
        #else
        _ = Darwin.close(descriptor)
        #endif
    }
}
#endif
