// Optional: prevents a second press of the button, and lets users show the password they type.
for (const form of document.forms) {
  form.addEventListener('submit', event => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
    // After the submit: disabled fields are not sent, and the pressed button's value counts.
    setTimeout(() => {
      for (const button of form.querySelectorAll('button:not([type=button])')) button.disabled = true;
    });
  });
}
// After a return from the next page, the form can be sent again.
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
  for (const button of document.querySelectorAll('button')) button.disabled = false;
});
const password = document.getElementById('password');
if (password) {
  const row = document.createElement('div');
  row.className = 'password';
  const toggle = document.createElement('button');
  toggle.type = 'button';
  toggle.className = 'plain';
  toggle.setAttribute('aria-controls', 'password');
  const show = visible => {
    password.type = visible ? 'text' : 'password';
    toggle.textContent = visible ? password.dataset.hide : password.dataset.show;
  };
  toggle.addEventListener('click', () => show(password.type === 'password'));
  password.form.addEventListener('submit', () => show(false));
  password.replaceWith(row);
  row.append(password, toggle);
  show(false);
}
