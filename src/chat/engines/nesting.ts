/** Deepest nesting that is given to a parser: code of people has a tenth of it. */
const DEPTH_MAX = 200
/** Longest row of the same mark, which parsers follow down one call a mark. */
const ROW_MAX = 400

/** Whether parsers that call themselves can follow some code without running out of stack, as far as brackets tell. */
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
