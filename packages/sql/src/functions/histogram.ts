/** org.apache.hadoop.hive.ql.udf.generic.NumericHistogram: bins (center, count), the nearest two merged when there are too many. */
export class NumericHistogram {
  private readonly bins: { x: number; y: number }[] = [];

  constructor(private readonly limit: number) {}

  add(value: number): void {
    let low = 0;
    let high = this.bins.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.bins[middle].x < value) low = middle + 1;
      else high = middle;
    }
    if (this.bins[low]?.x === value) this.bins[low].y++;
    else {
      this.bins.splice(low, 0, { x: value, y: 1 });
      if (this.bins.length > this.limit) this.mergeNearest();
    }
  }

  private mergeNearest(): void {
    let nearest = 0;
    let smallest = Number.POSITIVE_INFINITY;
    for (let i = 0; i + 1 < this.bins.length; i++) {
      const distance = this.bins[i + 1].x - this.bins[i].x;
      if (distance < smallest) [smallest, nearest] = [distance, i];
    }
    const [a, b] = [this.bins[nearest], this.bins[nearest + 1]];
    const count = a.y + b.y;
    this.bins.splice(nearest, 2, { x: (a.x * a.y + b.x * b.y) / count, y: count });
  }

  quantile(q: number): number {
    const total = this.bins.reduce((sum, bin) => sum + bin.y, 0);
    let before = 0;
    for (let i = 0; i < this.bins.length; i++) {
      const { x, y } = this.bins[i];
      if ((before + y) / total >= q) {
        if (i === 0) return x;
        const previous = this.bins[i - 1].x;
        return previous + ((q * total - before) * (x - previous)) / y;
      }
      before += y;
    }
    return -1;
  }

  get all(): readonly { readonly x: number; readonly y: number }[] {
    return this.bins;
  }
}
