/** Human code has a tenth of this depth. */
const DEPTH_MAX = 200
/** Longest row of one operator. Parsers recurse once for each of its characters. */
const ROW_MAX = 400

/** Whether recursive parsers can read some code without a stack overflow. */
export function isShallow(code: string): boolean {
  let [depth, row] = [0, 0]
  for (let i = 0; i < code.length; i++) {
    const mark = code[i] as string
    if ('([{'.includes(mark)) depth += 1
    else if (')]}'.includes(mark)) depth = Math.max(0, depth - 1)
    row = mark === code[i - 1] && '!~+-*?:=>`'.includes(mark) ? row + 1 : 0
    if (depth > DEPTH_MAX || row > ROW_MAX) return false
  }
  return true
}
