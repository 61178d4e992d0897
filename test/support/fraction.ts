/** An exact rational number, 0 or more. Rounded results are compared with it. */
export class Fraction {
  private readonly top: bigint
  private readonly bottom: bigint

  constructor(top: bigint, bottom = 1n) {
    if (top < 0n || bottom <= 0n) throw new Error(`not a fraction from 0 up: ${top} / ${bottom}`)
    this.top = top
    this.bottom = bottom
  }

  plus(other: Fraction): Fraction {
    return new Fraction(this.top * other.bottom + other.top * this.bottom, this.bottom * other.bottom)
  }

  minus(other: Fraction): Fraction {
    return new Fraction(this.top * other.bottom - other.top * this.bottom, this.bottom * other.bottom)
  }

  times(other: Fraction): Fraction {
    return new Fraction(this.top * other.top, this.bottom * other.bottom)
  }

  over(other: Fraction): Fraction {
    return new Fraction(this.top * other.bottom, this.bottom * other.top)
  }

  isAtLeast(other: Fraction): boolean {
    return this.top * other.bottom >= other.top * this.bottom
  }

  floor(): bigint {
    return (this.top - (this.top % this.bottom)) / this.bottom
  }

  ceil(): bigint {
    const rest = this.top % this.bottom
    return rest === 0n ? this.floor() : this.floor() + 1n
  }
}

export function whole(value: bigint): Fraction {
  return new Fraction(value)
}
