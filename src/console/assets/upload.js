// Shows how much of a file has been sent. Without it, the form is sent as any other.
for (const form of document.querySelectorAll('form[data-upload]')) {
  form.addEventListener('submit', event => {
    event.preventDefault()
    const progress = form.querySelector('progress')
    const status = form.querySelector('[role=status]')
    const button = form.querySelector('button')
    const request = new XMLHttpRequest()
    progress.hidden = false
    button.disabled = true
    status.className = ''
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      progress.max = total
      progress.value = loaded
      const percent = Math.floor((100 * loaded) / total)
      status.textContent = loaded < total ? `${percent} % sent` : 'Sent; the rows are being checked'
    })
    request.addEventListener('load', () => {
      if (request.status < 400) {
        location.assign(request.responseURL)
        return
      }
      const page = new DOMParser().parseFromString(request.responseText, 'text/html')
      button.disabled = false
      progress.hidden = true
      status.className = 'bad'
      // Without the script, the form would come back with it, but without the chosen file.
      const reason =
        page.querySelector('.bad[id$="-refused"]') ?? page.querySelector('[role=alert]')
      status.replaceChildren(...(reason?.childNodes ?? ['The upload failed']))
    })
    request.addEventListener('error', () => {
      button.disabled = false
      progress.hidden = true
      // Browsers do not send a file that was saved again since it was chosen.
      form.querySelector('[type=file]').value = ''
      status.textContent =
        'The connection was lost, or the file has changed since you chose it: choose it again'
    })
    request.open('POST', form.action)
    request.send(new FormData(form))
  })
}
