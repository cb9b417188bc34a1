DELETE DATA { _:b <p> <o> }
