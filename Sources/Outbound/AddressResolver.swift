package import Text

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds the addresses of a host name.
package struct AddressResolver: Sendable {
    /// Blocks.
    ///
    /// Called on a separate thread. Empty if the name has no address.
    package var addresses: @Sendable (_ host: String) -> [IPAddress]

    package init(addresses: @escaping @Sendable (_ host: String) -> [IPAddress]) { self.addresses = addresses }

    /// The operating system's `getaddrinfo`, which sorts addresses that this machine can reach first (RFC 6724).
    package static let system = AddressResolver { host in
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        unsafe hints.ai_socktype = Int32(SOCK_STREAM)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(text.count)
            let status = unsafe getnameinfo(
                entry.pointee.ai_addr,
                entry.pointee.ai_addrlen,
                &text,
                length,
                nil,
                0,
                NI_NUMERICHOST
            )
            let name = String(
                decoding: text.prefix { $0 != 0 && $0 != 37 }.map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
            if status == 0, let address = IPAddress(name), !found.contains(address) { found.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }
}
