/** A schema of a caller is compiled into a program, so its size is limited. */
const LIMITS = { depth: 32, nodes: 4_000, chars: 65_536 }
const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

interface Place {
  readonly value: unknown
  readonly depth: number
}

/** Why a schema is refused: too large, too deep, or with references to other documents. Null if it is accepted. */
export function schemaTrouble(schema: Readonly<Record<string, unknown>>): string | null {
  let [nodes, chars] = [0, 0]
  // A loop, unlike a recursion, can return at the first problem.
  const left: Place[] = [{ value: schema, depth: 0 }]
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const { value, depth } = place
    nodes += 1
    if (typeof value === 'string') chars += value.length
    if (nodes > LIMITS.nodes || chars > LIMITS.chars) return 'the schema is too large'
    if (depth > LIMITS.depth) return `the schema is more than ${LIMITS.depth} levels deep`
    if (value === null || typeof value !== 'object') continue
    for (const [key, inner] of Object.entries(value)) {
      chars += key.length
      if (REFERENCES.has(key) && typeof inner === 'string' && !inner.startsWith('#'))
        return 'references in the schema must begin with #'
      left.push({ value: inner, depth: depth + 1 })
    }
  }
  return null
}
