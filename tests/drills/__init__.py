"""What must hold when everything goes wrong at once: real processes, real kills, a full disk, wrong clocks."""
