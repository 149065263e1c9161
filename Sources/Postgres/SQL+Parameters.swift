import CLibPQ

extension SQL {
    /// Calls C with the number of parameters, their types, values, lengths and formats.
    func withCParameters<R>(
        _ body: (
            Int32, UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        let list = parameters.list
        let count = list.count
        guard count > 0 else { return body(0, nil, nil, nil, nil) }
        return withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
            withUnsafeTemporaryAllocation(of: Oid.self, capacity: count) { types in
                // Lengths, then formats.
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * 2) { numbers in
                    parameters.bytes.withUnsafeBytes { bytes in
                        // An empty value differs from NULL by a non-null pointer, whatever it points to.
                        let base = bytes.baseAddress ?? UnsafeRawPointer(numbers.baseAddress)
                        for (index, parameter) in list.enumerated() {
                            let start = base?.advanced(by: parameter.offset).assumingMemoryBound(to: CChar.self)
                            values.initializeElement(at: index, to: parameter.length == nil ? nil : start)
                            types.initializeElement(at: index, to: parameter.type.rawValue)
                            numbers.initializeElement(at: index, to: Int32(clamping: parameter.length ?? 0))
                            numbers.initializeElement(at: count + index, to: 1)
                        }
                        let lengths = UnsafePointer(numbers.baseAddress)
                        return body(
                            Int32(clamping: count),
                            types.baseAddress,
                            values.baseAddress,
                            lengths,
                            lengths.map { $0 + count }
                        )
                    }
                }
            }
        }
    }
}
