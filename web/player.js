// Plays a track: something that goes a step further, tells when it is at its end, and can be put back.

const HOLD = 2200; // milliseconds at the end before a loop begins again

export class Player {
  #timer = null;
  #track = null;
  speed = 1;
  isLooping = false;

  get isPlaying() {
    return this.#track !== null;
  }

  /**
   * `track`: `pace` milliseconds between steps at speed 1, `step()` goes on and returns false when there is nothing
   * further, `rewind()`, `onChange(isPlaying)`.
   */
  play(track) {
    this.stop();
    this.#track = track;
    track.onChange(true);
    this.#schedule(track.pace);
  }

  stop() {
    clearTimeout(this.#timer);
    const track = this.#track;
    this.#track = null;
    track?.onChange(false);
  }

  #schedule(milliseconds) {
    this.#timer = setTimeout(() => this.#tick(), milliseconds / this.speed);
  }

  #tick() {
    const track = this.#track;
    if (track.step()) {
      this.#schedule(track.pace);
    } else if (this.isLooping) {
      this.#timer = setTimeout(() => {
        track.rewind();
        this.#schedule(track.pace);
      }, HOLD);
    } else {
      this.stop();
    }
  }
}

/** Milliseconds per frame: short runs are slow enough to be seen, long ones do not take for ever. */
export function paceOf(frames) {
  return Math.max(70, Math.min(900, 10000 / Math.max(1, frames)));
}
