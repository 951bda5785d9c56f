/* Chromium's FLAC reader cannot seek to one of the last frames (0.2 to 0.5 s before the end): the player then
   stands still for good. Load the sound anew, stand half a second earlier, and go on if it was playing. */
function mendSeeks(audio) {
  let playing = false, mended = false;
  audio.addEventListener("play", () => { playing = true; });
  audio.addEventListener("pause", () => { if (!audio.error) playing = false; });
  audio.addEventListener("seeked", () => { mended = false; });
  audio.addEventListener("error", () => {
    const at = audio.currentTime;
    if (!(at > 0) || mended) return;
    mended = true;
    audio.load();
    audio.currentTime = Math.max(0, at - 0.5);
    if (playing) audio.play();
  });
}
